// Any bytes: what the parser makes of them can be checked, also what stands around errors, and
// every diagnostic has its place.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interp/stack.h"
#include "lang/module.h"
#include "lang/source.h"
#include "parser/parse.h"
#include "repl/check_rest.h"
#include "stdlib/register.h"
#include "tests/support/prelude.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check_as(const std::string& text, parser::Notation notation) {
  const lang::Source source("<fuzz>", text);
  parser::Reading reading = parser::parse_all(source, tests::prelude(), notation);
  const bool has_errors = !reading.errors.empty();
  const auto errors = repl::check_rest(tests::prelude(), tests::prelude(), std::move(reading));
  if (has_errors && errors.empty()) die("errors get lost");
  for (const lang::Diagnostic& error : errors) {
    if (!error.span) die("an error without a place");
    (void)lang::render(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  stdlib::register_operators();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  interp::EvaluationStack::instance().run([&] {
    check_as(text, parser::Notation::Light);
    check_as(text, parser::Notation::Strict);
  });
  return 0;
}
