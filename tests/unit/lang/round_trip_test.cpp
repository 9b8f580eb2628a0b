// What is printed reads back: the same program, and the same text when printed again.
#include <catch2/catch.hpp>

#include "lang/alpha_equal.h"
#include "lang/module.h"
#include "lang/print.h"
#include "parser/parse.h"
#include "stdlib/register.h"

using namespace relay::lang;
using relay::parser::Notation;

namespace {

struct Reader {
  SourceStore sources;
  Module module;
  Reader() { relay::stdlib::register_operators(); }

  relay::parser::Parsed parse(const std::string& text, Notation notation) {
    auto result = relay::parser::parse(*sources.add("test", text), module, notation);
    if (!result) {
      std::string errors = text;
      for (const Diagnostic& diagnostic : result.errors()) errors += "\n" + render(diagnostic);
      FAIL(errors);
    }
    return std::move(*result);
  }
  Expr expr(const std::string& text, Notation notation) {
    return parse(text, notation).items.back().expr;
  }
};

void check_expression(const std::string& text, Notation notation) {
  Reader reader;
  const Expr first = reader.expr(text, notation);
  const std::string printed = print(first);
  INFO(printed);
  const Expr second = reader.expr(printed, notation);
  CHECK(alpha_equal(first, second, true));
  CHECK(print(second) == printed);
}

}  // namespace

TEST_CASE("strict expressions survive print and parse") {
  const char* text = GENERATE(
      "let %a = 2f * 3f + -1f; let %b = --4i64; let %c = 1e-2f64; (%a, %b, %c, True, -7i16)",
      "let %r = ref(1f); ref_write(%r, ref_read(%r) + 2f); { let %t = ref_read(%r); ref_write(%r, "
      "%t * %t) }; ref_read(%r)",
      "free_var %x: Tensor[(4, 4), float32]; %0 = nn.relu(%x); %1 = add(%0, %0); (%0, multiply(%1, "
      "%1))",
      "let %add = fn (%x: float32) { fn (%y: float32) { %x + %y } };"
      "let %loop = fn (%i: int32, %acc: float32) -> float32 {"
      "  if (%i == 0) { %acc } else { %loop(%i - 1, %add(%acc)(1f)) } }; %loop(3, 0f)",
      "free_var %x: Tensor[(1, 3), float32]; %2 = transpose(%x, axes=[1, 0]); sum(%2, axis=[-1], "
      "keepdims=True)",
      "%0 = fn (%p: Tensor[(8), float32], Primitive=1, relay.reshape_only=0) -> Tensor[(8), "
      "float32] { exp(%p) }; %0(%0)",
      "fn (%t: ((Tensor[(?, 4), float32], int32), bool)) {"
      "  let %p = %t.0; let %q = (%t.0).1; if (%t.1) { (%p.0, %q) } else { (negative(%p.0), 0) } }",
      "let %twice: fn (fn (int32) -> int32, int32) -> int32 ="
      "  fn (%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }; let %u: _ = (); "
      "%twice(fn (%k: int32) -> int32 { %k + 1 }, 40)",
      "let %y = (let %z = 3; %z * 2); %0 = if (%y == 6) { 1 } else { 0 }; add(%0, (%y))",
      "fn [A](%x: A) -> A { %x }",
      "%0 = exp(1f); let %f = fn (%c: bool) { if (%c) { %0 } else { negative(%0) } }; (%f, %0)",
      "match? ((1, 2)) { (%a, _) => %a }");
  check_expression(text, Notation::Strict);
}

TEST_CASE("index notation survives print and parse, strictly too") {
  const char* text = GENERATE(
      "free_var %a: Tensor[(3, 4), float32]; for %i < 3, %j < 4 { prim.mul(%a![%i, %j], 2f) }",
      "free_var %a: Tensor[(3, 4), float32]; for %i { sum %k { exp(%a[%i, %k]) } }",
      "fn [n](%a: Tensor[(n), float32]) { argmax %k < dim(n + 1) { %a[prim.sub(%k, 1i64)] } }",
      "free_var %z: Tensor[(8), float32]; scatter sum(%z) %i < 4i64 { [prim.add(%i, 1i64)] => "
      "prim.cast(%i, dtype=\"float32\") }",
      "grad(fn (%x: float32) { %x * %x })");
  check_expression(text, Notation::Strict);
}

TEST_CASE("a module survives print and parse") {
  const std::string text = R"(#[version = "0.0.5"]
type Opt[A] {
  Just(A),
  Nothing,
}

type Tree[A] {
  Leaf,
  Node(Tree[A], A, Tree[A]),
}

def @both(%a: Opt[float32], %b: Opt[float32]) -> float32 {
  %0 = (%a, %b);
  match? (%0) {
    (Just(%x: float32), Just(%y)) => {
      add(%x, %y)
    },
    (Just(%x1), _) => {
      %x1
    },
  }
}

def @depth[A](%t: Tree[A]) -> int32 {
  match (%t) {
    Leaf => {
      0
    },
    Node(%l, _, %r) => {
      let %a = @depth(%l);
      let %b = @depth(%r);
      %1 = less(%a, %b);
      %2 = if (%1) {
        %b
      } else {
        %a
      };
      add(1, %2)
    },
  }
}
)";
  Reader reader;
  Module module;
  for (relay::parser::Item& item : reader.parse(text, Notation::Auto).items) {
    if (item.type_def) {
      module.define(item.type_def);
    } else {
      Definition definition;
      definition.name = item.name;
      definition.function = item.expr;
      module.define(std::move(definition));
    }
  }
  PrintOptions options;
  options.header = true;
  CHECK(print_module(module, options) == text);
}

TEST_CASE("light text reads back as the same program") {
  const char* text =
      GENERATE("fn (x: float32, y: float32) { (x + y) * -2.0 - x / (y - 1.0) }",
               "fn (x: float32) { let y = exp(x); y * y + -y }",
               "fn (c: bool, x: float32) { if (c) { exp(x) } else { -x } }",
               "fn (a: Tensor[(3, 4), float32]) { for i < 3 { sum k < 4 { a[i, k] * 2.0 } } }",
               "fn (t: (float32, (int32, bool))) { (t.1.0, !t.1.1, (t.0,)) }",
               "fn (x: float32) { let r = ref(x); ref_write(r, 2.0); ref_read(r) }",
               "fn (x: float64) { x * 2.0f64 + 3i64 }");
  Reader reader;
  const Expr first = reader.expr(text, Notation::Light);
  const std::string printed = print_light(first);
  INFO(printed);
  CHECK(print_light(reader.expr(printed, Notation::Light)) == printed);
}

TEST_CASE("tensor constants survive print and parse") {
  check_expression("[[1f, -2.5f], [3f, 4f]]", GENERATE(Notation::Strict, Notation::Light));
}
