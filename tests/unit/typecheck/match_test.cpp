#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("a match must be exhaustive", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def f(xs) { match (xs) { Nil => 0 } }") == "");
  CHECK(t.scheme_of("def g(xs) { match (xs) { Nil => 0, Cons(_, Cons(_, _)) => 1 } }") == "");
  CHECK(t.scheme_of("def h(p) { match (p) { (Nil, _) => 0, (_, Some(_)) => 1 } }") == "");
  CHECK(t.scheme_of("def k(xs) { match? (xs) { Nil => 0 } }") == "fn (List[A]) -> int32");
  CHECK(t.scheme_of("def l(xs) { match (xs) { Cons(x) => 0, _ => 1 } }") == "");
  CHECK(t.checker().take_warnings().empty());
  CHECK(t.scheme_of("def m(xs) { match (xs) { Nil => 0, Cons(_, _) => 1, Nil => 2 } }") == "fn (List[A]) -> int32");
  auto warnings = t.checker().take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].span.text() == "Nil");
}
