// Where the file of a picture begins.

#include "repl/picture_file.h"

#include <string>

#include <catch2/catch.hpp>

namespace relay::repl {
namespace {

std::string parts(std::string_view argument) {
  const PictureFile file = split_picture_file(argument);
  return std::string(file.text) + " | " + file.path;
}

TEST_CASE("a picture's file is what stands behind the last `>`") {
  CHECK(parts("x > a.svg") == "x | a.svg");
  CHECK(parts("  x + 1>../b/a.svg ") == "x + 1 | ../b/a.svg");
  CHECK(parts("x > \"a b.png\"") == "x | a b.png");
  CHECK(parts("x > y > a.txt") == "x > y | a.txt");
}

TEST_CASE("a comparison is no file of a picture") {
  for (const std::string each : {"x > 0.5", "x > y", "(x > p.w)", "a.svg", "", ">", "f(\"a > b\")",
                                 "x > .5", "x > y.", "[x > p.w]"})
    CHECK(parts(each) == each + " | ");
}

}  // namespace
}  // namespace relay::repl
