// Each pass of the table, alone: generated programs mean after it what they meant before, to the
// bit or up to rounding, as the table says; functions keep their types; and a second run of one
// that is said to be idempotent changes nothing.

#include <string>

#include <catch2/catch.hpp>

#include "lang/print.h"
#include "opt/pass.h"
#include "repl/session.h"
#include "tests/support/passed_program.h"
#include "tests/support/property.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

using repl::Session;

constexpr std::uint64_t kPrograms = 100;

// What a text defines.
class Defined {
 public:
  explicit Defined(const std::string& text) : session_(quiet_options()) {
    errors_ = session_.run("program", text, nullptr, parser::Notation::Light);
  }
  Session& session() { return session_; }
  const std::vector<lang::Diagnostic>& errors() const { return errors_; }
  lang::Result<std::string> type() { return session_.type_of("f"); }

 private:
  Session session_;
  std::vector<lang::Diagnostic> errors_;
};

// A pass as it is asked for of a program whose function is `f`.
std::string called(const opt::Pass& pass) {
  for (const lang::AttrSpec& option : pass.options) {
    if (option.name == "entry") return pass.name + "(entry=f)";
  }
  return pass.name;
}

// What is wrong with a program after a pass; empty: nothing.
std::string fault(Defined& written, const RandomProgram& program, const opt::Pass& pass) {
  const auto once = written.session().optimised({.passes = called(pass)});
  if (!once)
    return is_unsupported(once.errors()) ? "" : "the pass fails: " + rendered(once.errors());
  if (pass.keeps == opt::Keeps::Meaning || !once->reads_back) return {};
  Defined made(once->text);
  if (!made.errors().empty()) return "what it makes: " + rendered(made.errors()) + once->text;
  const auto type = written.type();
  const auto type_made = made.type();
  if (!type_made || *type_made != *type)
    return "`f` has another type: " + (type_made ? *type_made : std::string("none"));
  const auto expected = written.session().evaluate(program.call);
  const auto found = made.session().evaluate(program.call);
  if (!expected || !found) {
    const bool both_fail =
        !expected && !found && expected.errors()[0].kind == found.errors()[0].kind;
    if (both_fail) return {};
    return "one fails: " + rendered(expected ? found.errors() : expected.errors()) + once->text;
  }
  const bool is_same = pass.keeps == opt::Keeps::Bits ? same_bits(*expected, *found)
                                                      : is_close(*found, *expected, 1e-9);
  if (!is_same) {
    return lang::to_string(*found) + " for " + lang::to_string(*expected) + "\n" + once->text;
  }
  if (!pass.is_idempotent) return {};
  // Names that are made follow from what a session has made before.
  Defined first(program.text);
  Defined second(program.text);
  const auto one = first.session().optimised({.passes = called(pass)});
  const auto two = second.session().optimised({.passes = called(pass) + "," + called(pass)});
  if (!two) return "the second time: " + rendered(two.errors());
  return one && two->text == one->text ? "" : once->text + "\nand the second time\n" + two->text;
}

// A type that an annotation alone says is not printed (docs/limits.md).
bool reads_back(Defined& written) {
  const auto typed = written.session().optimised({.passes = "InferType"});
  return typed && Defined(typed->text).errors().empty();
}

TEST_CASE("passes keep what the table says on generated programs") {
  std::size_t passed_over = 0;
  const auto all = seeds(kPrograms);
  for (const std::uint64_t seed : all) {
    ProgramOptions options;
    options.references = seed % 3 == 0;
    options.combinators = seed % 5 == 0;
    const RandomProgram program = random_program(seed, options);
    Defined written(program.text);
    REQUIRE(written.errors().empty());
    if (!reads_back(written)) {
      ++passed_over;
      continue;
    }
    for (const opt::Pass& pass : opt::passes()) {
      const std::string found = fault(written, program, pass);
      if (found.empty()) continue;
      FAIL_CHECK(
          pass.name << ": " << found << "\n"
                    << replay(program, "passes keep what the table says on generated programs"));
    }
  }
  CHECK(passed_over * 10 <= all.size());
}

TEST_CASE("a pass has an example that shows it, and a sentence") {
  for (const opt::Pass& pass : opt::passes()) {
    INFO(pass.name);
    CHECK(!pass.doc.empty());
    CHECK(!pass.doc.ends_with('.'));
    Defined example(pass.example + "\n");
    CHECK(example.errors().empty());
    CHECK(opt::find_pass(pass.name) == &pass);
  }
}

}  // namespace
}  // namespace relay::tests
