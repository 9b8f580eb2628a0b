// The program that an importer writes: its weights.

#include "models/program.h"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "lang/tensor.h"

namespace relay::models {
namespace {

lang::TensorRef whole(std::int64_t value) {
  lang::TensorRef tensor = lang::Tensor::make(lang::DType::Int64, {});
  tensor->set_bits(0, lang::bits_from_int(lang::DType::Int64, value));
  return tensor;
}

TEST_CASE("weights of one name are told apart by what they hold") {
  Program program("a program");
  CHECK(program.weight("a_2", whole(-1)) == "w.a_2");
  std::set<std::string> names;
  for (std::int64_t k = 0; k < 3000; ++k) names.insert(program.weight("a", whole(k)));
  CHECK(names.size() == 3000);
  CHECK(names.contains("w.a"));
  CHECK(names.contains("w.a_3"));
  CHECK(!names.contains("w.a_2"));
  program.set_model("", {}, {.lines = {}, .result = "w.a"});
  const std::string text = program.text("weights.safetensors").value();
  for (std::int64_t k = 0; k < 3000; ++k) CHECK(names.contains(program.weight("a", whole(k))));
  CHECK(program.text("weights.safetensors").value() == text);
}

TEST_CASE("lines that nothing needs are left out") {
  Block block{.lines = {{"a", "x + 1"},
                        {"b", "a.0 * dim_of(c2, axis=0)"},
                        {"c", "b"},
                        {"c2", "a"},
                        {"d", "{ let e = c2; e }"}},
              .result = "(d, a)"};
  remove_unused(block);
  CHECK(block_text(block) ==
        "{\nlet a = x + 1;\nlet c2 = a;\nlet d = { let e = c2; e };\n(d, a)\n}");
}

}  // namespace
}  // namespace relay::models
