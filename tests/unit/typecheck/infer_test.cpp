#include <catch2/catch.hpp>

#include "tests/unit/typecheck/fixture.h"

TEST_CASE("definitions generalise", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def square(x) { x * x }") == "fn (Tensor[s, d]) -> Tensor[s, d]");
  CHECK(t.scheme_of("def twice(x) { x * 2 }") == "fn (Tensor[s, d]) -> Tensor[s, d]");
  CHECK(t.scheme_of("def half(x) { x * 0.5 }") ==
        "fn (Tensor[s, d]) -> Tensor[s, d] where d: float");
  CHECK(t.scheme_of("def plus(x, y) { x + y }") ==
        "fn (Tensor[s, d], Tensor[t, d]) -> Tensor[u, d] where add(Tensor[s, d], Tensor[t, d]) = "
        "Tensor[u, d]");
  CHECK(t.scheme_of("def adder(x) { fn (y) { y + 1 } }") ==
        "fn (A) -> fn (Tensor[s, d]) -> Tensor[s, d]");
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
  // Shown at the usual ranks; it works at others.
  CHECK(t.scheme_of("def layer(x, w, b) { nn.relu(nn.dense(x, w) + b) }") ==
        "fn (Tensor[(n, m), d], Tensor[(k, m), d], Tensor[(k), d]) -> Tensor[(n, k), d]");
  CHECK(t.check("layer(ones(shape=[3], dtype=\"float32\"), ones(shape=[2, 3], dtype=\"float32\"), "
                "1.0)") == "Tensor[(2), float32]");
  CHECK(t.scheme_of("def shifted(m, x) { let c = m[0, 0] * 2; m + x }") ==
        "fn (Tensor[(n, m), d], Tensor[s, d]) -> Tensor[t, d] where add(Tensor[(n, m), d], "
        "Tensor[s, d]) = Tensor[t, d]");
  CHECK(t.scheme_of("def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }") ==
        "fn (Tensor[(n, m), d], Tensor[(m, k), d]) -> Tensor[(n, k), d]");
  CHECK(t.scheme_of("def join[n, m](x: Tensor[(n), float32], y: Tensor[(m), float32]) { "
                    "concatenate((x, y), axis=0) }") ==
        R"(fn (Tensor[(n), float32], Tensor[(m), float32]) -> Tensor[(n + m), float32])");
}

TEST_CASE("mutual and polymorphic recursion", "[typecheck]") {
  TypecheckFixture t;
  t.define(
      "def even(n) { if (n == 0) { True } else { odd(n - 1) } }\n"
      "def odd(n) { if (n == 0) { False } else { even(n - 1) } }");
  CHECK(t.scheme("even") == "fn (Tensor[(), d]) -> bool");
  CHECK(t.scheme("odd") == "fn (Tensor[(), d]) -> bool");
  t.define(
      "type Nest[A] { Flat, Deep(A, Nest[(A, A)]) }\n"
      "def depth[A](n: Nest[A]) -> int32 { match (n) { Flat => 0, Deep(_, rest) => 1 + depth(rest) "
      "} }");
  CHECK(t.scheme("depth") == "fn (Nest[A]) -> int32");
  CHECK(t.scheme_of("def bad(n) { match (n) { Flat => 0, Deep(_, rest) => 1 + bad(rest) } }")
            .substr(0, 12) == "InfiniteType");
}

TEST_CASE("literals take the dtype of their context", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("1 + 2") == "int32");
  CHECK(t.check("1.5") == "float32");
  CHECK(t.check("{ let x = 2; x * 3i64 }") != "");
  CHECK(t.check("ones(shape=[3], dtype=\"float64\") * 2") == "Tensor[(3), float64]");
  CHECK(t.check("fn (x: Tensor[(2), int32]) { x * 1.5 }") ==
        R"(DTypeMismatch: `1.5` is a float literal, and it meets `int32`
  at '1.5': a float
  at 'x': `Tensor[(2), int32]`
  at 'x': `x` is declared here
  help: `cast(x, dtype="float32")` makes the other side a float)");
  CHECK(t.check("ones(shape=[3], dtype=\"int8\") * 300") ==
        R"(LiteralOutOfRange: `300` does not fit into `int8`
  at '300': `int8`)");
  CHECK(t.check("if (1) { 2 } else { 3 }") ==
        R"(TypeMismatch: `1` is a number, and `bool` is needed here
  at '1': a number
  help: write `True`)");
  CHECK(t.typed("-1") == "-1");
}

TEST_CASE("differentiation", "[typecheck]") {
  TypecheckFixture t;
  t.define("def square(x) { x * x }");
  CHECK(t.check("grad(square)(3.0)") == "float32");
  CHECK(t.check("grad(fn (x, y) { x * y })(1.0, 2.0)") == "(float32, float32)");
  CHECK(t.check("value_and_grad(square)(3.0)") == "(float32, float32)");
  CHECK(t.check("grad(grad(square))(3.0)") == "float32");
  CHECK(t.check("grad(square)(3)") == "float32");
  CHECK(t.check("grad(fn (f, x) { f(x) })(square, 2.0)") ==
        R"(NotDifferentiable: parameter `f` has no gradient: it is a function
  at 'f': `fn (_) -> _`)");
  CHECK(t.scheme_of("def step(f, x) { x - grad(f)(x) }") ==
        "fn (fn (Tensor[s, d]) -> Tensor[(), e], Tensor[s, d]) -> Tensor[s, d] where e: float");
}

TEST_CASE("index notation", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.typed("{ let a = ones(shape=[3, 4], dtype=\"float32\"); for i, j { a[i, j] * 2.0 } }") ==
        R"(let %a = ones(shape=[3, 4], dtype="float32");
for %i < 3i64, %j < 4i64 {
  %0 = %a![%i, %j];
  multiply(%0, 2f)
})");
  CHECK(t.check("{ let a = ones(shape=[3, 4], dtype=\"float32\"); for i { a[i] } }") ==
        "Tensor[(3, 4), float32]");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); let b = ones(shape=[4], "
                "dtype=\"float32\"); for i { a[i] * b[i] } }") ==
        R"(ExtentMismatch: `i` runs over an axis of extent 3 and over one of extent 4
  at 'b[i]': extent 4
  at 'a[i]': extent 3)");
  CHECK(t.check("for i < 5 { i * i }") == "Tensor[(5), int64]");
  CHECK(t.check("for i { 1 }") ==
        R"(AmbiguousType: `i` has no extent: nothing is indexed by a bare `[i]`
  at 'i': runs to where?
  help: write its extent, as in `i < 10`)");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); a[3] }") ==
        R"(IndexOutOfRange: index 3 is out of range for axis 0 of extent 3
  at 'a': `Tensor[(3), float32]`)");
  CHECK(t.typed("{ let a = ones(shape=[3], dtype=\"float32\"); a[-1] }") ==
        R"(let %a = ones(shape=[3], dtype="float32");
%a![2i64])");
  CHECK(t.typed("{ let a = load_csv(path=\"x\"); for i, j { a[i, j] } }") ==
        R"(let %a = load_csv(path="x");
%0 = dim_of(%a);
%1 = dim_of(%a, axis=1);
for %i < %0, %j < %1 {
  %a![%i, %j]
})");
  CHECK(t.check("{ let a = ones(shape=[3], dtype=\"float32\"); argmax i { a[i] } }") == "int64");
  CHECK(t.scheme_of("def total(a) { sum i { a[i] } }") == "fn (Tensor[(n), d]) -> Tensor[(), d]");
  CHECK(t.scheme_of("def batch(f, xs) { for i { f(xs[i]) } }") ==
        R"(fn (fn (A) -> B, Tensor[s, d]) -> C where Tensor[s, d][n] = A, for (n) { B } = C)");
  CHECK(t.check("batch(fn (r) { sum k { r[k] } }, ones(shape=[3, 4], dtype=\"float32\"))") ==
        "Tensor[(3), float32]");
}

TEST_CASE("errors name both sides", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("ones(shape=[3], dtype=\"float32\") + ones(shape=[4], dtype=\"float32\")") ==
        R"(BroadcastMismatch: shapes `(3)` and `(4)` do not broadcast: axis 0 is 3 and 4
  at 'ones(shape=[3], dtype="float32")': `Tensor[(3), float32]`
  at 'ones(shape=[4], dtype="float32")': `Tensor[(4), float32]`)");
  CHECK(
      t.check("nn.dense(ones(shape=[2, 3], dtype=\"float32\"), ones(shape=[3, 4], "
              "dtype=\"float32\"))") ==
      R"(ShapeMismatch: `nn.dense` of `(2, 3)` and `(3, 4)`: axis 1 of the left is 3 and axis 1 of the right is 4
  at 'ones(shape=[2, 3], dtype="float32")': `Tensor[(2, 3), float32]`
  at 'ones(shape=[3, 4], dtype="float32")': `Tensor[(3, 4), float32]`
  help: `transpose(...)` has shape `(4, 3)`)");
  CHECK(
      t.check("ones(shape=[3], dtype=\"float32\") + ones(shape=[3], dtype=\"int32\")") ==
      R"(DTypeMismatch: `add` does not take `Tensor[(3), float32]` and `Tensor[(3), int32]`: dtype `float32` is not `int32`
  at 'ones(shape=[3], dtype="float32")': `Tensor[(3), float32]`
  at 'ones(shape=[3], dtype="int32")': `Tensor[(3), int32]`
  help: `cast(ones(shape=[3], dtype="int32"), dtype="float32")` has dtype `float32`)");
  CHECK(t.check("if (True) { 1 } else { (1, 2) }") ==
        R"(TypeMismatch: the `else` branch must be `int32`, found `(int32, int32)`
  at '(1, 2)': `(int32, int32)`
  at '1': `int32`)");
  CHECK(t.check("map(fn (x) { x }, 3)") ==
        R"(TypeMismatch: argument `xs` of `map` must be `List[_]`, found `int32`
  at '3': `int32`)");
  CHECK(t.check("map(3)") ==
        R"(WrongArity: `map` takes 2 arguments, found 1
  note: `map` is `fn (fn (_) -> _, List[_]) -> List[_]`)");
  CHECK(t.check("(1)(2)") ==
        R"(NotAFunction: what is called is no function
  at '1': `int32`)");
  CHECK(t.check("fn (x) { x * x }") ==
        R"(AmbiguousType: cannot tell the type of `x`
  at 'x': `Tensor[_, _]`
  help: annotate it, as in `x: Tensor[(3), float32]`)");
  t.define("def f(x: Tensor[(3), float32]) -> Tensor[(3), float32] { x }");
  CHECK(
      t.check("f(ones(shape=[4], dtype=\"float32\"))") ==
      R"(ShapeMismatch: argument `x` of `f` must be `Tensor[(3), float32]`, found `Tensor[(4), float32]`: axis 0 is 4 and 3
  at 'ones(shape=[4], dtype="float32")': `Tensor[(4), float32]`)");
  CHECK(t.scheme_of("def loop(x) { x(x) }") ==
        R"(InfiniteType: a type would contain itself: `_` = `fn (_) -> _`
  at 'x': `_`)");
}

TEST_CASE("a let chain of a hundred thousand", "[typecheck]") {
  TypecheckFixture t;
  std::string text = "let x0 = 1.0;";
  for (int i = 1; i < 100000; ++i) {
    text += "let x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + 1.0;\n";
  }
  CHECK(t.check("{" + text + " x99999 }") == "float32");
}

TEST_CASE("local functions are monomorphic and may be recursive", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("{ let f = fn (x) { x * 2 }; f(1.5) }") == "float32");
  CHECK(t.check("{ let loop = fn (i, acc) { if (i == 0) { acc } else { loop(i - 1, acc * 2.0) } }; "
                "loop(10, 1.0) }") == "float32");
  CHECK(t.check("{ let x = 3; x + 2.5 }") ==
        R"(DTypeMismatch: `2.5` is a float literal, and it meets `int32`
  at '2.5': a float
  at 'x': `int32`
  at '3': `x` comes from here
  help: `cast(x, dtype="float32")` makes the other side a float)");
  CHECK(t.check("{ let r = ref(0); ref_write(r, ref_read(r) + 1); ref_read(r) }") == "int32");
  CHECK(t.check("map(tanh, Cons(1.0, Nil))") == "List[float32]");
  CHECK(t.check("Nil") == "List[()]");
}

TEST_CASE("a parameter of polymorphic type has one type", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def f(g: fn [A](A) -> A) { g(1) }") ==
        "fn (fn (Tensor[(), d]) -> Tensor[(), d]) -> Tensor[(), d]");
  CHECK(t.scheme_of("def f(g: fn [A](A) -> A) { (g((1, 2)), g(True)) }").substr(0, 10) ==
        "HigherRank");
}

TEST_CASE("a local function with type parameters is instantiated at each use", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.check("{ let f = fn [A](x: A) -> A { x }; f(1) }") == "int32");
  CHECK(t.check("{ let f = fn [A](x: A) -> A { x }; (f((1, 2)), f(True)) }") ==
        "((int32, int32), bool)");
  CHECK(t.typed("{ let f = fn [d](x: Tensor[(), d]) { x * 2 }; (f(1), f(1.5)) }") ==
        R"(let %f = fn (%x: int32) -> int32 {
  multiply(%x, 2)
};
let %f1 = fn (%x1: float32) -> float32 {
  multiply(%x1, 2f)
};
%0 = %f(1);
%1 = %f1(1.5f);
(%0, %1))");
  CHECK(t.check("{ let f = fn [A](x: A) -> A { 1 }; 2 }").substr(0, 12) == "TypeMismatch");
}

TEST_CASE("extents that nobody knows are checked where known ones are needed", "[typecheck]") {
  TypecheckFixture t;
  t.define("def f(x: Tensor[(5, 2), float32]) { x }");
  CHECK(t.typed("f(load_csv(path=\"x\"))") ==
        R"(%0 = load_csv(path="x");
%1 = (5i64, 2i64);
%2 = check_shape(%0, %1, because="argument `x` of `f`");
@f(%2))");
  CHECK(t.check("f(load_csv(path=\"x\"))") == "Tensor[(5, 2), float32]");
  CHECK(t.check("{ let x: Tensor[(3, ?), float32] = load_csv(path=\"x\"); x }") ==
        "Tensor[(3, ?), float32]");
  CHECK(t.check("if (True) { load_csv(path=\"x\") } else { [[1.0]] }") ==
        "Tensor[(?, ?), float32]");
  CHECK(t.check("match (Some(1)) { None => [[1.0]], Some(_) => load_csv(path=\"x\") }") ==
        "Tensor[(?, ?), float32]");
  CHECK(t.check("id(load_csv(path=\"x\"))") == "Tensor[(?, ?), float32]");
}

TEST_CASE("equations between dimensions", "[typecheck]") {
  TypecheckFixture t;
  CHECK(t.scheme_of("def f(x, y) { sum i { x[i] } + sum i { y[i] }; for i { concatenate((x, x), "
                    "axis=0)[i] + concatenate((y, y, y), axis=0)[i] } }") ==
        "fn (Tensor[(n), d], Tensor[(m), d]) -> Tensor[(2 * n), d] where 2 * n = 3 * m");
  CHECK(t.check("f([1.0, 2.0, 3.0], [1.0, 2.0])") == "Tensor[(6), float32]");
  CHECK(t.check("f([1.0, 2.0], [1.0, 2.0])").substr(0, 14) == "ExtentMismatch");
}

TEST_CASE("data types over dimensions", "[typecheck]") {
  TypecheckFixture t;
  t.define("type Vec[n] { Vec(Tensor[(n), float32]) }");
  CHECK(t.scheme_of("def append[n, m](a: Vec[n], b: Vec[m]) -> Vec[n + m] { match ((a, b)) { "
                    "(Vec(x), Vec(y)) => Vec(concatenate((x, y), axis=0)) } }") ==
        "fn (Vec[n], Vec[m]) -> Vec[n + m]");
  CHECK(t.scheme_of("def same(a, b) { match ((a, b)) { (Vec(x), Vec(y)) => for i { x[i] + y[i] } } "
                    "}") == "fn (Vec[n], Vec[n]) -> Tensor[(n), float32]");
  CHECK(t.check("same(Vec([1.0]), Vec([1.0, 2.0]))").substr(0, 13) == "ShapeMismatch");
  CHECK(t.instance("append", "fn (Vec[2], Vec[3]) -> Vec[5]") != "");
}
