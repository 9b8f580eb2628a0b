#include <catch2/catch.hpp>

#include "interp/stack.h"
#include "parser/builder.h"
#include "tests/unit/parser/fixture.h"

using namespace relay::parser::test;
using relay::parser::Notation;

TEST_CASE("light: items, and where they end") {
  CHECK(light("import \"other.relay\";\n/// Squares.\n/// Twice.\ndef square(x) { x * x }") ==
        "import other.relay\ndoc: Squares.\nTwice.\ndef @square(%x) {\n  multiply(%x, %x)\n}");
  CHECK(light("let x = 1.0; x\n-2\nx +\n 3;") == "top let x = 1.0\n@x\n-2\nadd(@x, 3);");
  CHECK(light("let x = 1\nx\n(x)\n(x +\n x)") == "top let x = 1\n@x\n@x\nadd(@x, @x)");
  CHECK(light("def f(x) = x +\n 1\ndef g() = f(2)") ==
        "def @f(%x) {\n  add(%x, 1)\n}\ndef @g() {\n  @f(2)\n}");
  CHECK(light("1 2") ==
        "SyntaxError 2-3: expected an operator, `;` or a new line after the expression, found `2`");
  CHECK(light("def f() { 1 }\ndef f() { 2 }") ==
        "DuplicateDefinition 18-19: `f` is defined twice\n  label 4-5: first defined here");
}

TEST_CASE("light: what a bare name means") {
  const relay::lang::Module scope = prelude();
  CHECK(light("def f(twice) { twice }", scope) == "def @f(%twice) {\n  %twice\n}");
  CHECK(light("twice(exp, half)", scope) == "@twice(exp, @half)");
  CHECK(light("def exp(x) { x }\nexp(half)", scope) == "def @exp(%x) {\n  %x\n}\n@exp(@half)");
  CHECK(light("def Nil() { 1 }\nNil", scope) == "def @Nil() {\n  1\n}\n@Nil");
  CHECK(light("(Nil, Nil(), Cons)", scope) == "(Nil, Nil, Cons)");
  CHECK(light("let add = 3; 1 + add") == "top let add = 3\nadd(1, @add)");
  CHECK(light("nn.relu(1.0)") == "nn.relu(1.0)");
  CHECK(light("def f[n](x: Tensor[(n), float32]) { n }") ==
        "def @f[n](%x: Tensor[(n), float32]) {\n  dim(n)\n}");
  CHECK(light("squrt(1.0)\nsquirt", scope)
            .find("UnknownName 0-5: unknown name `squrt`\n  help: did you mean `sqrt`?") == 0);
}

TEST_CASE("light: patterns") {
  const relay::lang::Module scope = prelude();
  CHECK(light("match half { Nil => 0, Cons(h, (t, _)) => 1 }", scope) ==
        "match (@half) {\n  Nil => {\n    0\n  },\n  Cons(%h, (%t, _)) => {\n    1\n  },\n}");
  CHECK(light("match half { Con(h) => 0 }", scope) ==
        "UnknownConstructor 13-16: unknown constructor `Con`\n  help: did you mean `Cons`?");
  CHECK(light("match half { Cons(h) => 0 }", scope) ==
        "WrongArity 13-20: constructor `Cons` has 2 fields, the pattern has 1\n  label 20-24: "
        "defined here");
  CHECK(light("match half { (a, a) => 0 }", scope) ==
        "DuplicateDefinition 17-18: `a` is bound twice in one pattern\n  label 14-15: first bound "
        "here");
}

TEST_CASE("light: literals and operators") {
  CHECK(light("(1, 1.5, 1e3, 1f, 2i64, 1f64, inff, True, -3)") ==
        "(1, 1.5, 1000.0, 1f, 2i64, 1f64, inff, True, -3)");
  CHECK(light("1+2*3-4/5 < 6 == True && !False || 1 != 2") ==
        "%0 = multiply(2, 3);\n%1 = add(1, %0);\n%2 = divide(4, 5);\n%3 = subtract(%1, %2);\n%4 = "
        "less(%3, 6);\n"
        "%5 = equal(%4, True);\n%6 = logical_not(False);\n%7 = logical_and(%5, %6);\n%8 = "
        "not_equal(1, 2);\n"
        "logical_or(%7, %8)");
  CHECK(light("def f(x) { -x.0 }") == "def @f(%x) {\n  %0 = %x.0;\n  negative(%0)\n}");
  CHECK(light("1 |> add(2) |> exp") == "%0 = add(1, 2);\nexp(%0)");
  CHECK(light("5k") == "BadNumber 0-2: `5k` has the suffix `k`, which names no dtype");
  CHECK(light("-129i8") == "LiteralOutOfRange 0-6: `-129i8` does not fit in int8");
  CHECK(light("9223372036854775808") ==
        "LiteralOutOfRange 0-19: `9223372036854775808` does not fit in int64");
}

TEST_CASE("light: tensor literals") {
  CHECK(light("[[1.0, 2.0],\n [3, -4]]") == "[[1f, 2f], [3f, -4f]]");
  CHECK(light("[1, 2]") == "[1, 2]");
  CHECK(light("[1i64, 2]") == "[1i64, 2i64]");
  CHECK(light("[True, False]") == "[True, False]");
  CHECK(light("def f(x) { [x, 1] }") == "def @f(%x) {\n  %0 = (%x, 1);\n  stack(%0)\n}");
  CHECK(light("[[1, 2], [3]]") == "ShapeMismatch 9-12: the rows of this tensor differ in shape");
  CHECK(light("[1f, 2i64]") ==
        "DTypeMismatch 0-10: elements of a tensor literal are float32 and int64\n  label 1-3: "
        "float32\n  label 5-9: int64");
  CHECK(light("[1.5, 2i]") == "DTypeMismatch 1-4: `1.5` is no element of a int32 tensor");
}

TEST_CASE("light: indexing and slicing") {
  const std::string head = "def f(x, i) { ";
  const auto body = [&](const char* text) {
    const std::string all = light(head + text + " }");
    const std::size_t begin = all.find("{\n");
    return begin == std::string::npos ? all : all.substr(begin + 4, all.size() - begin - 6);
  };
  CHECK(body("x[i, -1]") == "%x[%i, -1]");
  CHECK(body("x![i]") == "%x![%i]");
  CHECK(body("x[1:3, ::2]") ==
        "strided_slice(%x, begin=[1, 0], end=[3, 2147483647], strides=[1, 2], axes=[0, 1])");
  CHECK(body("x[i, :]") == "%0 = with_axes(%x, least=2);\n  %0[%i]");
  CHECK(body("x[:, i]") == "for %a {\n    %x[%a, %i]\n  }");
  CHECK(body("x[:]") == "with_axes(%x, least=1)");
}

TEST_CASE("light: let takes values apart") {
  CHECK(light("def f(x) { let (a, (b, _)) = x; a + b }") ==
        "def @f(%x) {\n  let %v: (_, (_, _)) = %x;\n  let %a = %v.0;\n  %0 = %v.1;\n  let %b = "
        "%0.0;\n  add(%a, %b)\n}");
  CHECK(light("def f(x) { let (a, b): int32 = x; a }") ==
        "BadPattern 15-21: this pattern is for a tuple of 2, but the annotation is `int32`");
}

TEST_CASE("light: records") {
  const std::string type = "type P { P { w: int32, b: int32 } }\n";
  const auto body = [&](const char* text) {
    const std::string all = light(type + text);
    const std::size_t begin = all.find("}\n");
    return begin == std::string::npos ? all : all.substr(begin + 2);
  };
  CHECK(body("P(b = 1, w = 2)") == "P(2, 1)");
  CHECK(body("def f(p) { p.w }") == "def @f(%p) {\n  record.get(%p, P, fields=[\"w\"])\n}");
  CHECK(body("def f(p) { p with { b = 1 } }") ==
        "def @f(%p) {\n  record.with(%p, 1, P, fields=[\"b\"])\n}");
  CHECK(body("def f(p) { match p { P { b } => b } }") ==
        "def @f(%p) {\n  match (%p) {\n    P(_, %b) => {\n      %b\n    },\n  }\n}");
}

TEST_CASE("light: index notation") {
  CHECK(light("def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }") ==
        "def @mm(%a, %b) {\n  for %i, %j {\n    sum %k {\n      %0 = %a[%i, %k];\n      %1 = "
        "%b[%k, %j];\n"
        "      multiply(%0, %1)\n    }\n  }\n}");
  CHECK(light("def f[n](x: Tensor[(n), float32]) { for i < n - 1, j < 3 { x[i] } }") ==
        "def @f[n](%x: Tensor[(n), float32]) {\n  %0 = subtract(dim(n), 1);\n  for %i < %0, %j < 3 "
        "{\n    %x[%i]\n  }\n}");
  CHECK(light("sum(1.0)") == "sum(1.0)");
  CHECK(light("def f(sum) { sum }") == "def @f(%sum) {\n  %sum\n}");
  CHECK(
      light("for i, i { 1 }") ==
      "DuplicateDefinition 7-8: two index variables have the name `i`\n  label 4-5: the first one");
}

TEST_CASE("light: calls with attributes") {
  CHECK(light("sum([1.0], axis=(0,), keepdims=True)") == "sum([1f], axis=[0], keepdims=True)");
  CHECK(light("cast(1, dtype=float64)") == "cast(1, dtype=\"float64\")");
  CHECK(light("load_csv(\"a\\\"b\")").find("load_csv(") == 0);
  CHECK(light("def f(x) { x }\nf(1, axis=2)") ==
        "UnknownAttribute 20-24: `f` has no parameter `axis`\n  note: `f(x)`");
  CHECK(light("sum(1, axis=1 + 2)") ==
        "BadAttribute 12-17: the value of an attribute is a number, a string, a list, `True`, "
        "`False` or `None`");
}

TEST_CASE("light: special forms") {
  CHECK(light("def f(x) { x }\ngrad(f)(1.0)") == "def @f(%x) {\n  %x\n}\n%0 = grad(@f);\n%0(1.0)");
  CHECK(light("grad") ==
        "SyntaxError 0-4: `grad` is no value of its own, it is applied: `grad(...)`\n  "
        "help: `fn (f) { grad(f) }`");
  CHECK(light("def f(x) { x }\ncheck_grad(f, 1.0)") ==
        "def @f(%x) {\n  %x\n}\n%0 = check_grad(@f);\n%0(1.0)");
  CHECK(light("vjp(exp, 1)") ==
        "WrongArity 0-11: `vjp` takes one argument, but 2 are given\n  "
        "help: the derivative is a function: `vjp(exp)(1)`");
  CHECK(light("prim.add(1i64)") == "WrongArity 0-14: `prim.add` takes 2 arguments, but 1 is given");
}

TEST_CASE("light: control") {
  CHECK(light("if 1 < 2 { 1 } else if (True) { 2 } else { 3 }") ==
        "%0 = less(1, 2);\nif (%0) {\n  1\n} else {\n  if (True) {\n    2\n  } else {\n    3\n  "
        "}\n}");
  CHECK(light("{ let x = 1; let x = x + 1; x; x * 2 }") ==
        "let %x = 1;\nlet %x1 = add(%x, 1);\n%x1;\nmultiply(%x1, 2)");
}

TEST_CASE("light: what is missing, and to what it belongs") {
  CHECK(light("def f(x) {\n  sum(x, (1, 2)\n}") ==
        "SyntaxError 27-28: expected `,` or `)` to close the arguments opened at 2:6, found `}`\n  "
        "label 16-17: opened here\n  help: put `)` before `}`");
  CHECK(light("{ let x = 1 x }") ==
        "SyntaxError 12-13: expected `;` after the binding, found `x`\n  help: put `;` before `x`");
  CHECK(light("{\n  let x = 1\n  x\n}") ==
        "SyntaxError 16-17: expected `;` after the binding, found `x`\n"
        "  label 12-13: `;` is missing behind this\n"
        "  help: put `;` behind `1`, as lines of a block need it");
  CHECK(light("def f(x) {\n  print(x)\n  x\n}").find("help: put `;` behind `print(x)`") !=
        std::string::npos);
  CHECK(light("def f(alpha) {\n  (alpha * 2, alpha * 3, alpha * 4, alpha)\n  x\n}")
            .find("put `;` behind `)`") != std::string::npos);
  // What the line before needs is not known behind a comment.
  CHECK(light("{\n  let x = 1 // one\n  x\n}").find("behind") == std::string::npos);
  CHECK(light("x = 3").find("help: a binding begins with `let`") != std::string::npos);
  CHECK(light("{ 1; y = 3; y }").find("help: a binding begins with `let`") != std::string::npos);
  CHECK(light("f(x, y) = x").find("help: a definition begins with `def`") != std::string::npos);
  CHECK(light("if 1 = 2 { 1 } else { 2 }").find("help: to compare") != std::string::npos);
  CHECK(light("\"abc") ==
        "SyntaxError 0-1: this string is never closed\n  help: a string ends with `\"`");
  CHECK(light("1 /* 2 /* 3 */") == "SyntaxError 2-4: this comment is never closed");
}

TEST_CASE("light: nesting has a limit") {
  // Ten thousand levels are read; golden/run/deep_nesting.relay takes fewer through all stages.
  const auto read_deep = [](const std::string& text) {
    std::string shown;
    relay::interp::EvaluationStack::instance().run([&] { shown = light(text); });
    return shown;
  };
  const std::string limit = std::to_string(relay::parser::kNestingLimit);
  CHECK(read_deep(std::string(30000, '(')).find("NestingTooDeep " + limit + "-") == 0);
  const std::size_t levels = 10000;
  std::string calls;
  for (std::size_t i = 0; i < levels; ++i) calls += "exp(";
  CHECK(read_deep(calls + "x" + std::string(levels, ')')).find("UnknownName") == 0);
}

TEST_CASE("light: types") {
  CHECK(light("def f[n, s, d, A](x: Tensor[(n + 1, 2 * n), d], y: Tensor[s, d], z: A) -> fn (A) -> "
              "ref(A) { 1 }") ==
        "def @f[n, s, d, A](%x: Tensor[(n + 1, 2 * n), d], %y: Tensor[s, d], %z: A) -> fn (A) -> "
        "ref(A) {\n  1\n}");
  CHECK(light("def f[n](x: n, y: Tensor[(n), float32]) { 1 }") ==
        "TypeMismatch 26-27: `n` stands for a dimension here\n  label 12-13: and for a type here");
  CHECK(light("def f(x: Tensor[(n), float32]) { 1 }") ==
        "UnknownName 17-18: unknown dimension `n`\n  help: declare it: `def f[n](…)`");
  CHECK(light("let x: flaot32 = 1.0") ==
        "UnknownType 7-14: unknown type `flaot32`\n  help: did you mean `float32`?");
  CHECK(light("let x: List = 1", prelude()) ==
        "WrongArity 7-11: type `List` has 1 parameter, but 0 are given\n  label 5-9: defined here");
}

TEST_CASE("light: the printed form reads back") {
  for (const char* text :
       {"def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }",
        "def f(x) { let y = x * x; (y, y.0) }", "def f(x) { scatter sum(x) i < 3 { [i] => 1f } }",
        "type T[A] { L, N(T[A], A) }\ndef f(t) { match? t { N(l, _) => l } }",
        "def f[n](x: Tensor[(n), float32]) { for i < n { grad(fn (y) { y * x[i] })(1f) } }",
        "def f(x) { let r = ref(x); ref_write(r, 1f); ref_read(r) }",
        "type P { P { w: int32 } }\ndef f(p) { p with { w = p.w } }"}) {
    CAPTURE(text);
    CHECK(again(text, Notation::Light) == light(text));
  }
}

TEST_CASE("light: what is not supported says so") {
  for (const char* text : {"let x: Tensor[(2), float32x4] = 1", "def f(x, n) { x[::n] }"}) {
    CAPTURE(text);
    CHECK(light(text).find("Unsupported") == 0);
  }
}
