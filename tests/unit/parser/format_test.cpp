// The layout that `relay fmt` gives.

#include "parser/format.h"

#include <string>

#include <catch2/catch.hpp>

#include "lang/source.h"

namespace relay::parser {
namespace {

std::string formatted(std::string text) {
  const lang::Source source("test", std::move(text));
  const auto result = format(source);
  if (!result) return "error: " + result.errors().front().message;
  return *result;
}

TEST_CASE("format: spaces, commas and semicolons") {
  CHECK(formatted("def  f( x:Tensor[(2,n+1),float32],y ){x*-y+f( x , 1 )}") ==
        "def f(x: Tensor[(2, n + 1), float32], y) { x * -y + f(x, 1) }\n");
  CHECK(formatted("type T[A]{N,C(A,T[A]),};") == "type T[A] { N, C(A, T[A]) }\n");
  CHECK(formatted("let a=(1,);f(a,axis = 0,);") == "let a = (1,);\nf(a, axis=0);\n");
  CHECK(formatted("x[1:3,::2,i];x![j]; t.0 .shape") == "x[1:3, ::2, i];\nx![j];\nt.0.shape\n");
  CHECK(formatted("! [True]") == "! [True]\n");
  CHECK(formatted("{ {1} }") == "{ { 1 } }\n");
  CHECK(formatted("for i<n,j{sum k{a[i,k]}}") == "for i < n, j { sum k { a[i, k] } }\n");
  CHECK(formatted("") == "");
}

TEST_CASE("format: long lines break at the loosest place") {
  const std::string a(40, 'a');
  const std::string b(40, 'b');
  CHECK(formatted("let x = " + a + " * c + " + b + " * d") ==
        "let x = " + a + " * c + " + b + " * d\n");
  CHECK(formatted("let x = " + a + " * " + a + " + " + b + " * d") ==
        "let x = " + a + " * " + a + " +\n  " + b + " * d\n");
  CHECK(formatted("f(" + a + ", " + a + ", " + b + ")") ==
        "f(\n  " + a + ",\n  " + a + ",\n  " + b + ",\n)\n");
  CHECK(formatted("def f(" + a + ", " + b + ") -> ref(int32) { c + d }") ==
        "def f(\n  " + a + ",\n  " + b + ",\n) -> ref(int32) { c + d }\n");
  CHECK(formatted("fold(fn (x) { " + a + " + " + b + " + x }, 0, xs)") ==
        "fold(fn (x) {\n  " + a + " + " + b + " + x\n}, 0, xs)\n");
}

TEST_CASE("format: outside brackets the light notation breaks behind operators") {
  const std::string a(40, 'a');
  CHECK(formatted(a + " |> f(" + a + ") |> g(" + a + ")") ==
        a + " |>\n  f(" + a + ") |>\n  g(" + a + ")\n");
  CHECK(formatted("(" + a + " |> f(" + a + ") |> g(" + a + "))") ==
        "(\n  " + a + "\n    |> f(" + a + ")\n    |> g(" + a + ")\n)\n");
}

TEST_CASE("format: blocks, cases and rows keep their lines") {
  CHECK(formatted("def f(x) {\nx }\ndef g(x) { x\n}") == "def f(x) {\n  x\n}\ndef g(x) { x }\n");
  CHECK(formatted("match x {\nA => 1, B(y) => let z = y; z }") ==
        "match x {\n  A => 1,\n  B(y) => let z = y; z,\n}\n");
  CHECK(formatted("match x {\nA => 1,\nB(y) => {\nlet z = y;\nz } }") ==
        "match x {\n  A => 1,\n  B(y) => {\n    let z = y;\n    z\n  },\n}\n");
  CHECK(formatted("def f(x,k=3,y:int32=2){x}with gradient fn(x,k,y,dy){(dy,k,y)}") ==
        "def f(x, k=3, y: int32 = 2) { x } with gradient fn (x, k, y, dy) { (dy, k, y) }\n");
  CHECK(formatted("[[1, 2],\n[3, 4]]") == "[\n  [1, 2],\n  [3, 4],\n]\n");
  CHECK(formatted("if a {\n1 } else { 2 }") == "if a {\n  1\n} else {\n  2\n}\n");
}

TEST_CASE("format: comments and empty lines stay") {
  CHECK(formatted("// a\n\n\n\nlet x = 1 // b\n  // c\n\nlet y = f(1, // d\n 2) /* e */\n// f") ==
        "// a\n\nlet x = 1  // b\n// c\n\nlet y = f(\n  1,  // d\n  2,\n)  /* e */\n// f\n");
  CHECK(formatted("def f(x) { let a = x; // one\n\n // two\n a /* three */ + 1\n // four\n }") ==
        "def f(x) {\n  let a = x;  // one\n\n  // two\n  a /* three */ + 1\n  // four\n}\n");
  CHECK(formatted("/// Doc.\n/// More.\ndef f(x) = x") == "/// Doc.\n/// More.\ndef f(x) = x\n");
  CHECK(formatted("f( // nothing\n)") == "f(  // nothing\n)\n");
}

TEST_CASE("format: a comment inside of a line stays in its place") {
  for (const std::string text : {
           "f(1 /* a */)\n",
           "f(1 /* a */, 2 /* b */ /* c */)\n",
           "f(1, /* b */ 2)\n",
           "f(/* nothing */)\n",
           "f(fn (x) { x } /* a */)\n",
           "f([1, 2] /* a */)\n",
           "f(1, axis=2 /* a */)\n",
           "x |> f(1 /* a */)\n",
           "[[1, 2 /* a */], [3, 4]]\n",
           "(1, 2 /* a */)\n",
           "(1 /* a */)\n",
           "(1 /* a */,)\n",
           "a[1 /* a */]\n",
           "def f(x /* a */, y: int32 /* b */) { x }\n",
           "match x { A => 1, B(y /* a */) => y /* b */ }\n",
       }) {
    CHECK(formatted(text) == text);
  }
  CHECK(formatted("f(1, 2, /* a */)") == "f(1, 2 /* a */)\n");
  CHECK(formatted("f(\n1, 2 /* a */\n)") == "f(\n  1,\n  2,  /* a */\n)\n");
}

TEST_CASE("format: strict text stays strict") {
  CHECK(
      formatted("#[version=\"0.0.5\"]\ndef @f(%x:(int32,),Primitive=1)->int32{\n%0=add(%x .0,1);\n"
                "(match? (%0) { _=>%0 })}\nextern type T[A]\n#[metadata]\n{ \"a\" : 1 }\n\n") ==
      "#[version = \"0.0.5\"]\ndef @f(%x: (int32,), Primitive=1) -> int32 {\n"
      "  %0 = add(%x.0, 1);\n  (match? (%0) { _ => %0 })\n}\nextern type T[A]\n"
      "#[metadata]\n{ \"a\" : 1 }\n");
}

TEST_CASE("format: a text with a syntax error gives that") {
  CHECK(formatted("let x = )") == "error: expected an expression, found `)`");
}

}  // namespace
}  // namespace relay::parser
