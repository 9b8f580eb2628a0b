#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("definitions generalise", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def square(x) { x * x }") == "fn (Tensor[s, d]) -> Tensor[s, d]");
  CHECK(t.scheme_of("def twice(x) { x * 2 }") == "fn (Tensor[s, d]) -> Tensor[s, d]");
  CHECK(t.scheme_of("def half(x) { x * 0.5 }") == "fn (Tensor[s, d]) -> Tensor[s, d] where d: float");
  CHECK(t.scheme_of("def plus(x, y) { x + y }") ==
        "fn (Tensor[s, d], Tensor[t, d]) -> Tensor[u, d] where add(Tensor[s, d], Tensor[t, d]) = Tensor[u, d]");
  CHECK(t.scheme_of("def adder(x) { fn (y) { y + 1 } }") == "fn (A) -> fn (Tensor[s, d]) -> Tensor[s, d]");
  CHECK(t.scheme_of("def larger(a, b) { if (a < b) { b } else { a } }") ==
        "fn (Tensor[(), d], Tensor[(), d]) -> Tensor[(), d]");
  CHECK(t.scheme_of("def three() { 3 }") == "fn () -> int32");
  CHECK(t.scheme_of("def first(p) { p.0 }") == "fn (A) -> B where A.0 = B");
}

TEST_CASE("the prelude has the types it should", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme("compose") == "fn (fn (A) -> B, fn (C) -> A) -> fn (C) -> B");
  CHECK(t.scheme("foldl") == "fn (fn (A, B) -> A, A, List[B]) -> A");
  CHECK(t.scheme("zip") == "fn (List[A], List[B]) -> List[(A, B)]");
  CHECK(t.scheme("length") == "fn (List[A]) -> int32");
  CHECK(t.scheme("map") == "fn (fn (A) -> B, List[A]) -> List[B]");
}

TEST_CASE("layers generalise over their dimensions", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def layer(x, w, b) { nn.relu(nn.dense(x, w) + b) }") ==
        "");
  CHECK(t.scheme_of("def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }") ==
        "fn (Tensor[(n, m), d], Tensor[(m, k), d]) -> Tensor[(n, k), d]");
  CHECK(t.scheme_of("def join[n, m](x: Tensor[(n), float32], y: Tensor[(m), float32]) { concatenate((x, y), axis=0) }") ==
        "");
}

TEST_CASE("mutual and polymorphic recursion", "[typecheck]") {
  TypecheckFixture t;
  t.define("def even(n) { if (n == 0) { True } else { odd(n - 1) } }\n"
           "def odd(n) { if (n == 0) { False } else { even(n - 1) } }");
  CHECK(t.scheme("even") == "fn (Tensor[(), d]) -> bool");
  CHECK(t.scheme("odd") == "fn (Tensor[(), d]) -> bool");
  t.define("type Nest[A] { Flat, Deep(A, Nest[(A, A)]) }\n"
           "def depth[A](n: Nest[A]) -> int32 { match (n) { Flat => 0, Deep(_, rest) => 1 + depth(rest) } }");
  CHECK(t.scheme("depth") == "fn (Nest[A]) -> int32");
  CHECK(t.scheme_of("def bad(n) { match (n) { Flat => 0, Deep(_, rest) => 1 + bad(rest) } }").substr(0, 12) ==
        "InfiniteType");
}

TEST_CASE("literals take the dtype of their context", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("1 + 2") == "int32");
  CHECK(t.check("1.5") == "float32");
  CHECK(t.check("{ let x = 2; x * 3i64 }") != "");
  CHECK(t.check("ones(shape=[3], dtype=\"float64\") * 2") == "Tensor[(3), float64]");
  CHECK(t.check("fn (x: Tensor[(2), int32]) { x * 1.5 }") == "");
  CHECK(t.check("ones(shape=[3], dtype=\"int8\") * 300") == "");
  CHECK(t.check("if (1) { 2 } else { 3 }") == "");
  CHECK(t.typed("-1") == "-1");
}

TEST_CASE("differentiation", "[typecheck]") {
  TypecheckFixture t;
  t.define("def square(x) { x * x }");
  CHECK(t.check("grad(square)(3.0)") == "float32");
  CHECK(t.check("grad(fn (x, y) { x * y })(1.0, 2.0)") == "(float32, float32)");
  CHECK(t.check("value_and_grad(square)(3.0)") == "(float32, float32)");
  CHECK(t.check("grad(grad(square))(3.0)") == "float32");
  CHECK(t.check("grad(square)(3)") == "");
  CHECK(t.check("grad(fn (f, x) { f(x) })(square, 2.0)") == "");
  CHECK(t.scheme_of("def step(f, x) { x - grad(f)(x) }") == "fn (fn (Tensor[s, d]) -> Tensor[(), d], Tensor[s, d]) -> Tensor[s, d] where d: float");
}

TEST_CASE("index notation", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.typed("{ let a = ones(shape=[3, 4], dtype=\"float32\"); for i, j { a[i, j] * 2.0 } }") == "");
  CHECK(t.check("{ let a = ones(shape=[3, 4], dtype=\"float32\"); for i { a[i] } }") == "Tensor[(3, 4), float32]");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); let b = ones(shape=[4], dtype=\"float32\"); for i { a[i] * b[i] } }") == "");
  CHECK(t.check("for i < 5 { i * i }") == "Tensor[(5), int64]");
  CHECK(t.check("for i { 1 }") == "");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); a[3] }") == "");
  CHECK(t.typed("{ let a = ones(shape=[3], dtype=\"float32\"); a[-1] }") == "");
  CHECK(t.typed("{ let a = load_csv(path=\"x\"); for i, j { a[i, j] } }") == "");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); argmax i { a[i] } }") == "int64");
  CHECK(t.scheme_of("def total(a) { sum i { a[i] } }") == "fn (Tensor[(n), d]) -> Tensor[(), d]");
  CHECK(t.scheme_of("def batch(f, xs) { for i { f(xs[i]) } }") == "");
  CHECK(t.check("batch(fn (r) { sum k { r[k] } }, ones(shape=[3, 4], dtype=\"float32\"))") == "Tensor[(3), float32]");
}

TEST_CASE("errors name both sides", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("ones(shape=[3], dtype=\"float32\") + ones(shape=[4], dtype=\"float32\")") == "");
  CHECK(t.check("nn.dense(ones(shape=[2, 3], dtype=\"float32\"), ones(shape=[3, 4], dtype=\"float32\"))") == "");
  CHECK(t.check("ones(shape=[3], dtype=\"float32\") + ones(shape=[3], dtype=\"int32\")") == "");
  CHECK(t.check("if (True) { 1 } else { (1, 2) }") == "");
  CHECK(t.check("map(fn (x) { x }, 3)") == "");
  CHECK(t.check("map(3)") == "");
  CHECK(t.check("(1)(2)") == "");
  CHECK(t.check("fn (x) { x * x }") == "");
  t.define("def f(x: Tensor[(3), float32]) -> Tensor[(3), float32] { x }");
  CHECK(t.check("f(ones(shape=[4], dtype=\"float32\"))") == "");
  CHECK(t.scheme_of("def loop(x) { x(x) }") == "");
}

TEST_CASE("a let chain of a hundred thousand", "[typecheck]") {
  TypecheckFixture t;
  std::string text = "let x0 = 1.0;";
  for (int i = 1; i < 100000; ++i) {
    text += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + 1.0;\n";
  }
  CHECK(t.check("{" + text + " x99999 }") == "float32");
}
