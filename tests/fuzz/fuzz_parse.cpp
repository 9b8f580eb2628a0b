// Any bytes: the parser gives items or errors, never a crash, and every error points into the text.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interp/stack.h"
#include "lang/module.h"
#include "lang/source.h"
#include "parser/parse.h"
#include "stdlib/register.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

void check_span(const lang::Span& span, const lang::Source& source, const char* whose) {
  const bool inside =
      span.source == &source && span.begin <= span.end && span.end <= source.text().size();
  if (inside) return;
  std::fprintf(stderr, "%s has a span outside the text\n", whose);
  std::abort();
}

void parse_as(const std::string& text, parser::Notation notation) {
  const lang::Source source("<fuzz>", text);
  const lang::Module module;
  const auto parsed = parser::parse(source, module, notation);
  if (parsed) return;
  if (parsed.errors().empty()) {
    std::fprintf(stderr, "the parser fails without an error\n");
    std::abort();
  }
  for (const auto& error : parsed.errors()) {
    check_span(error.span, source, "an error");
    for (const auto& label : error.labels) check_span(label.span, source, "a label");
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
    parse_as(text, parser::Notation::Auto);
    parse_as(text, parser::Notation::Strict);
    (void)parser::completeness(text);
  });
  return 0;
}
