#include "notebook/positions.h"

#include <string>
#include <string_view>

#include <catch2/catch.hpp>

using namespace relay::notebook;

TEST_CASE("code points and bytes", "[notebook]") {
  const std::string_view text = "aö∇🎲b";
  CHECK(byte_at(text, 0) == 0);
  CHECK(byte_at(text, 2) == 3);
  CHECK(byte_at(text, 3) == 6);
  CHECK(byte_at(text, 4) == 10);
  CHECK(byte_at(text, 5) == 11);
  CHECK(byte_at(text, 99) == 11);
  for (std::size_t at = 0; at <= 5; ++at) CHECK(code_point_at(text, byte_at(text, at)) == at);
  CHECK(byte_at("\xff\xfe", 1) == 1);  // what is no UTF-8 counts by its bytes
}

namespace {

// The part of a cell around the place that `|` marks.
std::string part_around(std::string cell) {
  const std::size_t cursor = cell.find('|');
  cell.erase(cursor, 1);
  const Part part = part_at(cell, cursor);
  return (part.is_command ? "command " : "") + cell.substr(part.begin, part.end - part.begin);
}

}  // namespace

TEST_CASE("an entry goes with those before it, whose names it may use", "[notebook]") {
  CHECK(part_around("let a = 1\na|") == "let a = 1\na");
  CHECK(part_around("let a|\nlet b = 2") == "let a\nlet b = 2");  // not complete before
  CHECK(part_around("let a| = 1\nlet b = 2") == "let a = 1");
  CHECK(part_around("def f(x) {\n  x|\n}\nf(1)") == "def f(x) {\n  x\n}");
  CHECK(part_around("|") == "");
}

TEST_CASE("a command is a part of its own", "[notebook]") {
  CHECK(part_around(":do|c f") == "command :doc f");
  CHECK(part_around("let a = 1\n:ty|pe a\nlet b = 2") == "command :type a");
  CHECK(part_around("let a = 1\n:type a\na +| 1") == "a + 1");
  CHECK(part_around("let a =| 1\n:type a") == "let a = 1");
  CHECK(part_around("?f|") == "command ?f");
}

TEST_CASE("a line that looks like a command within an entry is none", "[notebook]") {
  CHECK(part_around("def f(x\n  : float32) {|\n x }") == "def f(x\n  : float32) {\n x }");
}
