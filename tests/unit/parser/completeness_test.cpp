#include <catch2/catch.hpp>

#include "parser/parse.h"

using relay::parser::completeness;
using relay::parser::Completeness;

TEST_CASE("what more lines could mend is incomplete") {
  for (const char* text : {"f(",
                           "f(1,",
                           "{ 1",
                           "[[1, 2],",
                           "1 +",
                           "1 + // why",
                           "let x",
                           "let x =",
                           "let x = {\n  let y = 1;",
                           "def f(x)",
                           "def f(x) {",
                           "def f(x) =",
                           "if x { 1 } else",
                           "match x {",
                           "match x { Nil =>",
                           "\"abc",
                           "/* abc",
                           "for i",
                           "for i <",
                           "sum(x, axis=",
                           "x |>",
                           "fn (x)",
                           "let x: Tensor[(2,",
                           "type T {",
                           "import",
                           "free_var %x;",
                           "%0 = 1;",
                           "#[version = \"0.0.5\"]\ndef @f() {"}) {
    CAPTURE(text);
    CHECK(completeness(text) == Completeness::Incomplete);
  }
}

TEST_CASE("what is whole or beyond mending is complete") {
  for (const char* text :
       {"", "  // only a comment", "1", "1;", "let x = 1", "def f(x) { x }", "f(1)\n", "type T",
        "1 2", "}", "let = 3", "unknown_name", "if x { 1 }", "if x { 1 } else { 2 }", "x.",
        "\"abc\"", "#[version = \"0.0.5\"]\ndef @f() { 1 }\n1 +"}) {
    CAPTURE(text);
    CHECK(completeness(text) == Completeness::Complete);
  }
}

TEST_CASE("what is beyond mending in open brackets is broken, until they are closed") {
  for (const char* text : {"f(]", "{ 1 2", "def f(x) {\n  let y = x +* 2;", "sum(1 2,\n  [3]",
                           "match x {\n  Nil => => 1,", "def f(x) {\n  x +* 2;\n  \"}\" // }"}) {
    CAPTURE(text);
    CHECK(completeness(text) == Completeness::Broken);
  }
  for (const char* text :
       {"def f(x) {\n  let y = x +* 2;\n}", "f(])", "(1 2\ndef f(x) { x }", "sum(1 2,\n  [3])"}) {
    CAPTURE(text);
    CHECK(completeness(text) == Completeness::Complete);
  }
}

TEST_CASE("a definition cuts off what is open before it") {
  using relay::parser::is_cut_by;
  for (const char* line : {"def f(x) {", "type T { A }", "import \"a\"", "extern def f()"})
    CHECK(is_cut_by("def g(x) {\n  (x", line));
  for (const char* line : {"", "  def f(x) {", "let x = 1", "}", "define(x)", "// def"})
    CHECK_FALSE(is_cut_by("def g(x) {\n  (x", line));
  for (const char* text : {"", "1 +", "/// What follows.", "f(1, /* was", "print(\"this is"})
    CHECK_FALSE(is_cut_by(text, "def f(x) {"));
}
