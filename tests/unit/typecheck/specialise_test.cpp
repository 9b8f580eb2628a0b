#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("instances", "[typecheck]") {
  TypecheckFixture t;
  t.define(
      "def twice(x) { x * 2 }\n"
      "def plus(x, y) { x + y }\n"
      "def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }\n"
      "def loop(i, x) { if (i == 0) { x } else { loop(i - 1, twice(x)) } }\n"
      "def even(n) { if (n == 0) { True } else { odd(n - 1) } }\n"
      "def odd(n) { if (n == 0) { False } else { even(n - 1) } }");
  CHECK(t.instance("twice", "fn (Tensor[(3), float32]) -> Tensor[(3), float32]") ==
        R"(def @twice(%x: Tensor[(3), float32]) -> Tensor[(3), float32] {
  multiply(%x, 2f)
})");
  CHECK(t.instance("plus", "fn (Tensor[(2, 3), float32], float32) -> Tensor[(2, 3), float32]") ==
        R"(def @plus(%x: Tensor[(2, 3), float32], %y: float32) -> Tensor[(2, 3), float32] {
  add(%x, %y)
})");
  CHECK(
      t.instance(
          "mm",
          "fn (Tensor[(2, 3), float32], Tensor[(3, 4), float32]) -> Tensor[(2, 4), float32]") ==
      R"(def @mm[n, m, k](%a: Tensor[(n, m), float32], %b: Tensor[(m, k), float32]) -> Tensor[(n, k), float32] {
  for %i < dim(n), %j < dim(k) {
    sum %k < dim(m) {
      %0 = %a![%i, %k];
      %1 = %b![%k, %j];
      multiply(%0, %1)
    }
  }
})");
  CHECK(t.instance("loop", "fn (int32, float32) -> float32") ==
        R"(def @loop(%i: int32, %x: float32) -> float32 {
  %0 = equal(%i, 0);
  if (%0) {
    %x
  } else {
    %1 = subtract(%i, 1);
    %2 = @twice(%x);
    @loop(%1, %2)
  }
})");
  CHECK(t.instance("even", "fn (int64) -> bool") ==
        R"(def @even(%n: int64) -> bool {
  %0 = equal(%n, 0i64);
  if (%0) {
    True
  } else {
    %1 = subtract(%n, 1i64);
    @odd(%1)
  }
})");
  CHECK(t.instance("map", "fn (fn (int32) -> bool, List[int32]) -> List[bool]") ==
        R"(def @map(%f: fn (int32) -> bool, %xs: List[int32]) -> List[bool] {
  match (%xs) {
    Nil => {
      Nil
    },
    Cons(%x, %rest) => {
      %0 = %f(%x);
      %1 = @map(%f, %rest);
      Cons(%0, %1)
    },
  }
})");
  CHECK(t.key("mm",
              "fn (Tensor[(2, 3), float32], Tensor[(3, 4), float32]) -> Tensor[(2, 4), float32]") ==
        t.key("mm",
              "fn (Tensor[(5, 6), float32], Tensor[(6, 7), float32]) -> Tensor[(5, 7), float32]"));
  CHECK(t.key("plus", "fn (Tensor[(2), float32], float32) -> Tensor[(2), float32]") !=
        t.key("plus", "fn (Tensor[(1), float32], float32) -> Tensor[(1), float32]"));
}
