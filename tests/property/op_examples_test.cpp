// The example of every operator and every form of the language gives what it says it gives, in both
// tiers.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "repl/doc_forms.h"
#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/text_diff.h"

namespace relay::tests {
namespace {

constexpr std::string_view kExpect = "// expect: ";

// Without white space: an example gives a matrix on one line.
std::string compact(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

// What an example prints, and the values of its expressions.
std::string run_example(const std::string& example, interp::JitMode mode) {
  std::string shown;
  repl::SessionOptions options;
  options.jit = mode;
  options.verify = true;
  options.write = [&](std::string_view text) { shown += text; };
  repl::Session session(std::move(options));
  const auto errors = session.run("<example>", example, [&](const repl::ItemResult& result) {
    if (result.kind == parser::ItemKind::Expression && result.type != "()")
      shown += lang::to_string(result.value) + "\n";
  });
  return shown + rendered(errors);
}

std::string expected_of(const std::string& example) {
  std::string text;
  for (const std::string& line : split_lines(example)) {
    const std::size_t at = line.find(kExpect);
    if (at != std::string::npos) text += line.substr(at + kExpect.size()) + "\n";
  }
  return text;
}

void check_examples(interp::JitMode mode) {
  repl::Session session({});  // registers the operators
  REQUIRE(lang::OpRegistry::instance().all().size() > 40);
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    INFO(op->name << "\n" << op->example);
    const std::string expected = expected_of(op->example);
    CHECK((!expected.empty() || op->effect == lang::Effect::Assert));  // which prints nothing
    const std::string shown = run_example(op->example, mode);
    INFO("gives\n" << shown);
    CHECK(compact(shown) == compact(expected));
  }
  for (const std::string& name : repl::form_names()) {
    const std::string example = repl::form_example(name).value();
    const std::string shown = run_example(example, mode);
    INFO(name << "\n" << example << "\ngives\n" << shown);
    CHECK(!expected_of(example).empty());
    CHECK(compact(shown) == compact(expected_of(example)));
  }
}

TEST_CASE("operator examples hold with the JIT off") { check_examples(interp::JitMode::Off); }
TEST_CASE("operator examples hold with the JIT always on") {
  check_examples(interp::JitMode::Always);
}

}  // namespace
}  // namespace relay::tests
