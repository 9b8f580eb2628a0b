// Recursion that is too deep ends in a diagnostic.

#include "interp/stack.h"

#include <catch2/catch.hpp>

#include "repl/session.h"

namespace relay::interp {
namespace {

TEST_CASE("recursion beyond the limit of the stack is a StackOverflow, and the session goes on") {
  EvaluationStack::instance().limit(std::size_t{64} << 20);
  repl::Session session({});
  const std::string deep = "def deep(n: int32) { if n == 0 { 0 } else { 1 - deep(n - 1) } }";
  REQUIRE(session.run("<test>", deep, nullptr).empty());
  const auto errors = session.run("<test>", "deep(100000000)", nullptr);
  REQUIRE(errors.size() == 1);
  CHECK(errors.front().kind == lang::DiagnosticKind::StackOverflow);
  CHECK(errors.front().message == "recursion is too deep: the evaluation stack is used up");
  REQUIRE(errors.front().span);
  CHECK(errors.front().span.text() == "deep(n - 1)");
  const auto value = session.evaluate("deep(1000)");
  REQUIRE(value.ok());
  CHECK(lang::to_string(*value) == "0");
}

}  // namespace
}  // namespace relay::interp
