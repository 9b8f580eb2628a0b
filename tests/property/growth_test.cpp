// What passes make of a program grows with the program, and no faster.

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

// def f1(x) { f0(f0(x)) } and so on: each level calls the one below twice.
std::string tower(int levels) {
  std::string text = "def f0(x: float32) -> float32 { x * 0.5 + 1.0 }\n";
  for (int i = 1; i < levels; ++i)
    text += fmt::format("def f{0}(x: float32) -> float32 {{ f{1}(f{1}(x)) }}\n", i, i - 1);
  return text;
}

std::int64_t lines_after_inlining(int levels) {
  repl::Session session{repl::SessionOptions{}};
  const auto errors = session.run("<tower>", tower(levels), nullptr);
  if (!errors.empty()) FAIL(rendered(errors));
  std::vector<std::string> generic;
  const auto text = session.optimised("Inline", false, generic);
  if (!text) FAIL(rendered(text.errors()));
  CHECK(generic.empty());
  return std::count(text->begin(), text->end(), '\n');
}

TEST_CASE("inlining a tower of calls is linear in its levels") {
  const std::int64_t few = lines_after_inlining(12);
  const std::int64_t many = lines_after_inlining(24);
  INFO("12 levels: " << few << " lines, 24: " << many);
  CHECK(few > 12 * 8);  // something is inlined
  CHECK(many < 3 * few);
}

}  // namespace
}  // namespace relay::tests
