#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("a match must be exhaustive", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def f(xs) { match (xs) { Nil => 0 } }") ==
        R"(NonExhaustiveMatch: `match` does not cover `Cons(_, _)`
  at 'xs': `List[_]`
  help: add clauses for them, or write `match?`, which fails when nothing fits)");
  CHECK(t.scheme_of("def g(xs) { match (xs) { Nil => 0, Cons(_, Cons(_, _)) => 1 } }") ==
        R"(NonExhaustiveMatch: `match` does not cover `Cons(_, Nil)`
  at 'xs': `List[_]`
  help: add clauses for them, or write `match?`, which fails when nothing fits)");
  CHECK(t.scheme_of("def h(p) { match (p) { (Nil, _) => 0, (_, Some(_)) => 1 } }") ==
        R"(NonExhaustiveMatch: `match` does not cover `(Cons(_, _), None)`
  at 'p': `(List[_], Option[_])`
  help: add clauses for them, or write `match?`, which fails when nothing fits)");
  CHECK(t.scheme_of("def k(xs) { match? (xs) { Nil => 0 } }") == "fn (List[A]) -> int32");
  CHECK(t.checker().take_warnings().empty());
  CHECK(t.scheme_of("def m(xs) { match (xs) { Nil => 0, Cons(_, _) => 1, Nil => 2 } }") ==
        "fn (List[A]) -> int32");
  auto warnings = t.checker().take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].kind == relay::lang::DiagnosticKind::UnreachableClause);
  CHECK(std::string(warnings[0].span.text()) == "Nil");
}
