#include <set>

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "stdlib/library.h"
#include "stdlib/prelude.h"
#include "stdlib/register.h"

namespace {

using relay::lang::Effect;
using relay::lang::OpDef;
using relay::lang::OpRegistry;
using relay::lang::TensorPrimitive;

const std::vector<const OpDef*>& operators() {
  relay::stdlib::register_operators();
  return OpRegistry::instance().all();
}

}  // namespace

TEST_CASE("every operator is complete", "[stdlib]") {
  REQUIRE(operators().size() > 100);
  for (const OpDef* op : operators()) {
    CAPTURE(op->name);
    CHECK_FALSE(op->doc.empty());
    CHECK(op->doc.back() != '\n');
    // An assertion that holds puts out nothing.
    CHECK((op->effect == Effect::Assert || op->example.find("// expect:") != std::string::npos));
    CHECK(static_cast<bool>(op->type_rule));
    // One way to be evaluated.
    CHECK((op->definition ? 1 : 0) + (op->expansion ? 1 : 0) + (op->static_form.empty() ? 0 : 1) +
              (op->primitive != TensorPrimitive::None ? 1 : 0) +
              (op->effect != Effect::None ? 1 : 0) ==
          1);
    // A derivative is given, derived from the definition, or there is none.
    if (op->gradient) CHECK(op->differentiable);
    CHECK(op->level >= 0);
    CHECK(op->level <= 11);
    for (const auto& input : op->inputs) CHECK_FALSE(input.doc.empty());
    std::set<std::string> names;
    for (const auto& attr : op->attrs) {
      CAPTURE(attr.name);
      CHECK_FALSE(attr.doc.empty());
      CHECK(names.insert(attr.name).second);
      if (attr.default_value && attr.default_value->is_null()) CHECK(attr.nullable);
    }
  }
}

TEST_CASE("registering again does nothing", "[stdlib]") {
  const std::size_t count = operators().size();
  relay::stdlib::register_operators();
  CHECK(operators().size() == count);
}

TEST_CASE("infix operators of the notation are there", "[stdlib]") {
  operators();
  for (const char* name :
       {"add", "subtract", "multiply", "divide", "negative", "equal", "not_equal", "less",
        "less_equal", "greater", "greater_equal", "take", "strided_slice"}) {
    CHECK(OpRegistry::instance().find(name) != nullptr);
  }
}

TEST_CASE("the prelude is embedded", "[stdlib]") {
  const auto files = relay::stdlib::embedded_files();
  REQUIRE_FALSE(files.empty());
  CHECK(files.front().name == "prelude.relay");
  CHECK(files.front().text.find("def foldl(") != std::string_view::npos);
}

TEST_CASE("the library that programs import is embedded, and is no prelude", "[stdlib]") {
  const auto files = relay::stdlib::library_files();
  REQUIRE_FALSE(files.empty());
  CHECK(files.front().name == "implicit.relay");
  CHECK(files.front().text.find("def root(") != std::string_view::npos);
  CHECK(files.back().name == "optim.relay");
  CHECK(files.back().text.find("def adam(") != std::string_view::npos);
}
