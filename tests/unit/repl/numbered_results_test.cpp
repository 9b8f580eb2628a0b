#include "repl/numbered_results.h"

#include <catch2/catch.hpp>

namespace relay::repl {
namespace {

bool none(const std::string&) { return false; }

TEST_CASE("numbered results pass over names that are taken") {
  NumberedResults results;
  const auto is_taken = [](const std::string& name) { return name == "_2"; };
  CHECK(results.add(lang::Value::boolean(true), is_taken) == 1);
  CHECK(results.add(lang::Value::boolean(true), is_taken) == 3);
  CHECK(results.has("_3"));
  CHECK(!results.has("_2"));
}

TEST_CASE("the oldest numbered results are given up, and the newest never") {
  NumberedResults results;
  for (std::size_t i = 0; i < NumberedResults::kMost; ++i)
    results.add(lang::Value::boolean(true), none);
  CHECK(results.take_given_up().empty());
  results.add(lang::Value::boolean(true), none);
  CHECK(results.take_given_up() == std::vector<int>{1});
  CHECK(results.take_given_up().empty());
  CHECK(!results.has("_1"));

  constexpr auto kElements = static_cast<std::int64_t>(NumberedResults::kMostBytes / 4);
  const lang::Value large =
      lang::Value::tensor(lang::Tensor::make(lang::DType::Float32, {kElements}));
  const int number = results.add(large, none);
  CHECK(results.take_given_up().size() == NumberedResults::kMost);
  CHECK(results.has(NumberedResults::name_of(number)));
}

}  // namespace
}  // namespace relay::repl
