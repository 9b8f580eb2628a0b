// A `match` on many booleans is read in time and size linear in its clauses.

#include <functional>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/visit.h"
#include "tests/unit/parser/fixture.h"

namespace {

using relay::lang::Expr;

// A function of `n` booleans with a clause for each; `mark` says what it asks of each of them.
std::string clauses(std::size_t n,
                    const std::function<const char*(std::size_t, std::size_t)>& mark) {
  std::string params, rows;
  for (std::size_t i = 0; i < n; ++i) params += fmt::format("{}b{}", i == 0 ? "" : ", ", i);
  for (std::size_t row = 0; row < n; ++row) {
    std::string patterns;
    for (std::size_t i = 0; i < n; ++i)
      patterns += fmt::format("{}{}", i == 0 ? "" : ", ", mark(row, i));
    rows += fmt::format("({}) => {}, ", patterns, row);
  }
  return fmt::format("fn ({0}) {{ match ({0}) {{ {1} _ => -1 }} }}", params, rows);
}

std::size_t size_of(const std::string& text) {
  const relay::lang::Source source("", text);
  const relay::lang::Module scope;
  const auto parsed = relay::parser::parse(source, scope);
  REQUIRE(parsed.ok());
  std::size_t count = 0;
  relay::lang::visit_post_order(parsed->items.at(0).expr, [&](const Expr&) { ++count; });
  return count;
}

}  // namespace

TEST_CASE("a match on many booleans is linear in its clauses") {
  const auto one = [](std::size_t row, std::size_t i) { return i == row ? "True" : "_"; };
  const auto two = [](std::size_t row, std::size_t i) {
    return i == row ? "True" : i == row + 1 ? "False" : "_";
  };
  const auto ends = [](std::size_t row, std::size_t i) {
    return i == row ? "True" : i + row == 23 ? "False" : "_";
  };
  for (const auto& mark :
       {std::function<const char*(std::size_t, std::size_t)>(one), {two}, {ends}}) {
    CHECK(size_of(clauses(24, mark)) < 24 * 30);
    CHECK(size_of(clauses(48, mark)) < 48 * 30);
  }
}
