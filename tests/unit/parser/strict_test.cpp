#include <catch2/catch.hpp>

#include "tests/unit/parser/fixture.h"

using namespace relay::parser::test;
using relay::parser::Notation;

TEST_CASE("strict: numbers") {
  CHECK(strict("(42, 2147483648, 7i64, 1f, 1.5f, 1.0E+1f, 1e-2f64, 3f16, inff, -inff, True)") ==
        "(42, 2147483648i64, 7i64, 1f, 1.5f, 10f, 0.01f64, 3f16, inff, -inff, True)");
  CHECK(strict("(-5, --5, ---5, -7i16)") == "(-5, 5, -5, -7i16)");
  CHECK(strict("1.5") ==
        "BadNumber 21-24: `1.5` is not an integer\n  help: a float ends in `f`: `1.5f`");
  CHECK(strict("1+2") ==
        "BadNumber 21-24: `1+2` is read as one number\n  help: put spaces around the operator");
  CHECK(strict("5i8") == "BadNumber 21-24: `5i8` has the suffix `i8`, which names no dtype");
  CHECK(strict("32768i16") == "LiteralOutOfRange 21-29: `32768i16` does not fit in int16");
  CHECK(strict("65505f16") == "LiteralOutOfRange 21-29: `65505f16` does not fit in float16");
  CHECK(strict("3.40283e+38f32") ==
        "LiteralOutOfRange 21-35: `3.40283e+38f32` does not fit in float32");
  CHECK(strict("3.4028235e+38f") == "3.4028235e+38f");
  CHECK(strict("free_var %x; %x -1").find("SyntaxError") == 0);
}

TEST_CASE("strict: bindings and scopes") {
  CHECK(strict("let %x = 1; let %x = %x + %x; %x") == "let %x = 1;\nlet %x1 = add(%x, %x);\n%x1");
  CHECK(strict("let %f = fn (%n: int32) { %f(%n) }; %f") ==
        "let %f = fn (%n: int32) {\n  %f(%n)\n};\n%f");
  CHECK(strict("%0 = add(1, 2); (%0, multiply(%0, %0))") ==
        "%0 = add(1, 2);\n%1 = multiply(%0, %0);\n(%0, %1)");
  CHECK(strict("fn (%x) { let %x = 1; %x }") == "fn (%x) {\n  let %x1 = 1;\n  %x1\n}");
  CHECK(strict("%0 = 1; %0 = 2; %0") ==
        "DuplicateDefinition 29-31: graph variable `%0` is bound twice\n  label 21-23: first bound "
        "here");
  CHECK(strict("(fn () { %0 = 1; %0 }, %0)") ==
        "UnknownName 44-46: graph variable `%0` is not bound here");
  CHECK(strict("let @x = 1; ()") ==
        "SyntaxError 25-27: expected a local variable such as `%x`, found `@x`");
  CHECK(strict("if (True) { let %x = 1; %x } else { %x }") ==
        "UnknownName 57-59: unknown variable `%x`");
  CHECK(strict("fn (%y) { let %x: int32 = %y; %x }") ==
        "fn (%y) {\n  let %x: int32 = %y;\n  %x\n}");
  CHECK(strict("free_var %x: float32; %x") == "free_var %x: float32;\n%x");
  CHECK(strict("1; 2") == "1;\n2");
  CHECK(strict("(1; )") == "SyntaxError 25-26: expected an expression after `;`, found `)`");
}

TEST_CASE("strict: items") {
  CHECK(strict("type T[A] { L, N(T[A], A), }\nextern type S\ndef @f[A](%t: T[A], %s: S) -> A { "
               "match %t { N(_, %x) => %x } }") ==
        "type T[A] {\n  L,\n  N(T[A], A),\n}\nextern type S\ndef @f[A](%t: T[A], %s: S) -> A {\n  "
        "match (%t) {\n"
        "    N(_, %x) => {\n      %x\n    },\n  }\n}");
  CHECK(strict("def @f() { 1 } def @f() { 2 }")
            .find("DuplicateDefinition 40-42: `f` is defined twice") == 0);
  CHECK(strict("type A { C } type B { C }")
            .find("DuplicateDefinition 43-44: constructor `C` is defined twice") == 0);
  CHECK(strict("extern type A { C }") ==
        "SyntaxError 37-38: an extern type has no constructors, but `A` has one");
  CHECK(read("def @f() { 1 }", Notation::Strict) ==
        "BadVersionHeader 0-14: a strict module begins with its version\n  help: put `#[version = "
        "\"0.0.5\"]` before the first item");
  CHECK(read("#[version = \"0.0.4\"] 1", Notation::Auto)
            .find("BadVersionHeader 12-19: version \"0.0.4\"") == 0);
  CHECK(strict("fn (%x: float32, Primitive=1, relay.reshape_only=0) { %x }") ==
        "fn (%x: float32, Primitive=1, relay.reshape_only=0) {\n  %x\n}");
}

TEST_CASE("strict: expressions") {
  CHECK(strict("1 * 1 + 1 < 1 == True") ==
        "%0 = multiply(1, 1);\n%1 = add(%0, 1);\n%2 = less(%1, 1);\nequal(%2, True)");
  CHECK(strict("let %v = match (1) { _ => 2 }; %v") ==
        "let %v = (match (1) {\n  _ => {\n    2\n  },\n});\n%v");
  CHECK(strict("((1,), (2), ())") == "%0 = (1,);\n(%0, 2, ())");
  CHECK(strict("free_var %t: ((int32, bool), int32); (%t.0).1").find("%0 = %t.0;\n%0.1") !=
        std::string::npos);
  CHECK(strict("free_var %t: (int32, bool); %t.2") ==
        "TypeMismatch 52-53: a tuple of 2 fields has no field `2`\n  label 49-51: (int32, bool)");
  CHECK(strict("abs(1f).0").find("SyntaxError") == 0);
  CHECK(strict("free_var %x; -%x").find("SyntaxError") == 0);
  CHECK(strict("if (True) { 1 }") ==
        "SyntaxError 36-36: expected `else`, found the end of the text");
  CHECK(strict("add(1, 2) 3") ==
        "SyntaxError 31-32: expected a definition, a type or the end of the text, found `3`");
  CHECK(strict("nn . relu(1f)") == "nn.relu(1f)");
  CHECK(strict("let %layer1/w = 1f; %layer1/w").find("let %") == 0);
  CHECK(strict("1\r2") ==
        "SyntaxError 22-23: expected a definition, a type or the end of the text, "
        "found the byte 0x0D");
  CHECK(strict("1\n#[metadata]\n{") ==
        "BadMetadata 36-36: the metadata ends too early: its JSON is not complete");
  CHECK(strict("@elsewhere(1)") == "@elsewhere(1)");
  CHECK(strict("let %x = 1; x") ==
        "UnknownName 33-34: unknown name `x`\n  help: the variable is written `%x`");
}

TEST_CASE("strict: attributes") {
  CHECK(strict("transpose([1f], axes=[0])") == "transpose([1f], axes=[0])");
  CHECK(strict("transpose(1f, axes=(1, 0))") ==
        "BadAttribute 40-46: a tuple is no value of an attribute\n  help: write a list, as in `[1, "
        "2]`");
  CHECK(strict("free_var %f; %f(1, a=2, attrs_type_key=\"relay.attrs.T\")") ==
        "free_var %f;\n%f(1, a=2, attrs_type_key=\"relay.attrs.T\")");
}

TEST_CASE("strict: types") {
  CHECK(strict("fn (%x: float32x4, %y: uint1x4) { %x }") ==
        "fn (%x: float32x4, %y: uint1x4) {\n  %x\n}");
  CHECK(
      strict("fn (%u: Tensor[(?, 2, 3i64), bool], %f: fn [A](A, (int32,)) -> _, %r: ref(int)) { () "
             "}") ==
      "fn (%u: Tensor[(?, 2, 3), bool], %f: fn [A](A, (int32,)) -> _, %r: ref(int32)) {\n  ()\n}");
}

TEST_CASE("strict: long chains are no nesting") {
  std::string lets = "let %x = 1; ";
  for (int i = 0; i < 100'000; ++i) lets += "let %x = %x; ";
  CHECK(strict(lets + "%y") == "UnknownName 1300033-1300035: unknown variable `%y`");
}

TEST_CASE("strict: what is not supported says so") {
  for (const char* text : {"fn (%x: Tensor[(2), int8x4]) { %x }"}) {
    CAPTURE(text);
    CHECK(strict(text).find("Unsupported") == 0);
  }
}
