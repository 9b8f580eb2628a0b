#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("instances", "[typecheck]") {
  TypecheckFixture t;
  t.define("def twice(x) { x * 2 }\n"
           "def plus(x, y) { x + y }\n"
           "def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }\n"
           "def loop(i, x) { if (i == 0) { x } else { loop(i - 1, twice(x)) } }\n"
           "def even(n) { if (n == 0) { True } else { odd(n - 1) } }\n"
           "def odd(n) { if (n == 0) { False } else { even(n - 1) } }");
  CHECK(t.instance("twice", "fn (Tensor[(3), float32]) -> Tensor[(3), float32]") == "");
  CHECK(t.instance("plus", "fn (Tensor[(2, 3), float32], float32) -> Tensor[(2, 3), float32]") == "");
  CHECK(t.instance("mm", "fn (Tensor[(2, 3), float32], Tensor[(3, 4), float32]) -> Tensor[(2, 4), float32]") == "");
  CHECK(t.instance("loop", "fn (int32, float32) -> float32") == "");
  CHECK(t.instance("even", "fn (int64) -> bool") == "");
  CHECK(t.instance("map", "fn (fn (int32) -> bool, List[int32]) -> List[bool]") == "");
  CHECK(t.key("mm", "fn (Tensor[(2, 3), float32], Tensor[(3, 4), float32]) -> Tensor[(2, 4), float32]") ==
        t.key("mm", "fn (Tensor[(5, 6), float32], Tensor[(6, 7), float32]) -> Tensor[(5, 7), float32]"));
  CHECK(t.key("plus", "fn (Tensor[(2), float32], float32) -> Tensor[(2), float32]") !=
        t.key("plus", "fn (Tensor[(1), float32], float32) -> Tensor[(1), float32]"));
}
