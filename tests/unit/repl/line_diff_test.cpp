#include "repl/line_diff.h"

#include <catch2/catch.hpp>

using relay::repl::shown_difference;

TEST_CASE("what goes and comes stands between what stays", "[repl]") {
  CHECK(shown_difference("a\nb\nc\n", "a\nx\nc\n", false) == "  a\n- b\n+ x\n  c\n");
  CHECK(shown_difference("a\n", "a\nb\n", false) == "  a\n+ b\n");
  CHECK(shown_difference("", "a\n", false) == "+ a\n");
  CHECK(shown_difference("a\nb\n", "", false) == "- a\n- b\n");
}

TEST_CASE("what goes is red, and what comes green", "[repl]") {
  CHECK(shown_difference("a\nb\n", "a\nc\n", true) ==
        "  a\n\x1b[31m- b\x1b[0m\n\x1b[32m+ c\x1b[0m\n");
}

TEST_CASE("long stretches that stay are left out", "[repl]") {
  CHECK(shown_difference("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nx\n", false, 1) ==
        "  …\n  5\n- 6\n+ x\n");
}
