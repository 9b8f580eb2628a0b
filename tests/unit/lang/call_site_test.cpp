#include "lang/call_site.h"

#include <string>

#include <catch2/catch.hpp>

using namespace relay::lang;

namespace {

Span span_of(const Source& source, const std::string& text) {
  const auto begin = static_cast<std::uint32_t>(source.text().find(text));
  return {&source, begin, begin + static_cast<std::uint32_t>(text.size())};
}

}  // namespace

TEST_CASE("a place that has been moved keeps its text and its calls") {
  const Source callee("callee", "def pick(xs, i) { xs[i] }");
  const Source middle("middle", "def middle(xs) { pick(xs, 7) }");
  const Source outer("outer", "middle(xs)");
  const Span inner = span_of(callee, "xs[i]");
  const Span pick = span_of(middle, "pick(xs, 7)");
  const Span call = span_of(outer, "middle(xs)");

  const Span once = moved_to_call(inner, pick);
  CHECK(once.text() == "xs[i]");
  CHECK_FALSE(once == inner);
  CHECK(once == moved_to_call(inner, pick));  // one place, however often it is asked for
  CHECK_FALSE(once == moved_to_call(inner, call));

  // The callee first and then its caller, or the caller first: the same calls from the inside out.
  for (const Span& place :
       {moved_to_call(once, call), moved_to_call(inner, moved_to_call(pick, call))}) {
    CHECK(place.text() == "xs[i]");
    const Place found = place_of(place);
    CHECK(found.span == inner);
    REQUIRE(found.calls.size() == 2);
    CHECK(found.calls[0] == pick);
    CHECK(found.calls[1] == call);
  }
}

TEST_CASE("what has no place, or has not been moved, stays") {
  const Source source("source", "f(x)");
  const Span call = span_of(source, "f(x)");
  CHECK_FALSE(moved_to_call(Span{}, call));
  CHECK(moved_to_call(call, Span{}) == call);
  CHECK(place_of(call).span == call);
  CHECK(place_of(call).calls.empty());
  CHECK(Span{}.text().empty());
}

TEST_CASE("a diagnostic speaks of places in the text") {
  const Source source("source", "def f(x) { 1 / x } f(0)");
  const Span inner = span_of(source, "1 / x");
  const Span moved = moved_to_call(inner, span_of(source, "f(0)"));
  Diagnostic diagnostic(DiagnosticKind::DivisionByZero, "division of an integer by zero", moved);
  diagnostic.label(moved, "here");
  use_text_places(diagnostic);
  CHECK(diagnostic.span == inner);
  CHECK(diagnostic.labels[0].span == inner);
}
