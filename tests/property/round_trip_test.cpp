// What is printed reads back: strict text as the same program, light notation with the same value.

#include <string>

#include <catch2/catch.hpp>

#include "lang/alpha_equal.h"
#include "lang/print.h"
#include "lang/source.h"
#include "parser/parse.h"
#include "repl/session.h"
#include "tests/support/property.h"
#include "typecheck/infer.h"

namespace relay::tests {
namespace {

using lang::DType;
using lang::Expr;

constexpr std::size_t kPrograms = 300;
constexpr DType kDTypes[] = {DType::Float32, DType::Float64, DType::Int32};

// An empty list or option is printed without what it could hold, so data is left out.
ProgramOptions options_for(std::uint64_t seed) {
  ProgramOptions options;
  options.dtype = kDTypes[seed % 3];
  options.smooth = false;
  options.scalar_result = false;
  options.whole_language = false;
  return options;
}

// The definition that a text consists of; null if it does not parse, which is a failed check.
Expr parse_definition(lang::SourceStore& sources, const lang::Module& module,
                      const std::string& text) {
  const auto parsed =
      parser::parse(*sources.add("<printed>", text), module, parser::Notation::Strict);
  if (!parsed) {
    CHECK(rendered(parsed.errors()) == "");
    return nullptr;
  }
  REQUIRE(parsed->items.size() == 1);
  return parsed->items[0].expr;
}

// The light printer names parts as a person would, so its text is another program of the same
// value.
TEST_CASE("light notation reads back") {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  repl::Session session(options);
  for (const std::uint64_t seed : seeds(kPrograms)) {
    const RandomProgram program = random_program(seed, options_for(seed));
    INFO(replay(program, "light notation reads back"));
    CHECK(rendered(session.run("<program>", program.text, nullptr)) == "");
    const auto value = session.evaluate(program.call);
    if (!value) continue;  // the test of the tiers reports it
    const std::string printed =
        lang::print_light_definition("f", session.module().find("f")->function);
    INFO(printed);
    CHECK(rendered(session.run("<printed>", printed, nullptr)) == "");
    const auto again = session.evaluate(program.call);
    CHECK((again && lang::bit_equal(*value, *again)));
  }
}

Expr specialised(typecheck::Checker& checker) {
  const auto scheme = checker.scheme("f");
  if (!scheme) {
    CHECK(rendered(scheme.errors()) == "");
    return nullptr;
  }
  const auto typed = checker.specialise("f", scheme->type);
  if (typed) return *typed;
  CHECK(rendered(typed.errors()) == "");
  return nullptr;
}

// Attributes left at their defaults are not printed, so it is when typed again that it is the same.
TEST_CASE("typed strict text reads back") {
  repl::Session session({});
  lang::SourceStore sources;
  lang::Module& module = session.module();
  for (const std::uint64_t seed : seeds(kPrograms)) {
    const RandomProgram program = random_program(seed, options_for(seed));
    INFO(replay(program, "typed strict text reads back"));
    const auto errors = session.run("<program>", program.text, nullptr);
    CHECK(rendered(errors) == "");
    if (!errors.empty()) continue;
    typecheck::Checker checker(module);
    const Expr typed = specialised(checker);
    if (!typed) continue;
    const std::string printed = lang::print_definition("f", typed, {.header = true});
    INFO(printed);
    const Expr again = parse_definition(sources, module, printed);
    if (!again) continue;
    CHECK(lang::print_definition("f", again, {.header = true}) == printed);
    module.define(lang::Definition{"f", again, nullptr, lang::Origin::Own, "", {}});
    checker.forget("f");
    const Expr retyped = specialised(checker);
    if (!retyped) continue;
    CHECK(lang::alpha_equal(typed, retyped));
  }
}

}  // namespace
}  // namespace relay::tests
