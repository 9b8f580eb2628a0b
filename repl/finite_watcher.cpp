#include "repl/finite_watcher.h"

#include <fmt/format.h>

#include "repl/not_finite.h"
#include "repl/trace_operators.h"
#include "repl/value_line.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Value;

namespace {

// `-inf`, or what there is of it in more than a number.
std::string not_finite_text(const Value& value) {
  const bool is_number = value.is_scalar();
  if (is_number) return value_line(value);
  const NotFinite count = count_not_finite(value);
  std::string text;
  if (count.nans > 0) text = fmt::format("{} NaN", count.nans);
  if (count.infinities > 0)
    text += fmt::format("{}{} infinite", text.empty() ? "" : " and ", count.infinities);
  return text + (count.nans + count.infinities == 1 ? " element" : " elements");
}

}  // namespace

lang::Result<Value> FiniteWatcher::hear(const std::string& name, std::size_t place,
                                        const std::vector<Value>& values) {
  const Value& value = values[0];
  const NotFinite count = count_not_finite(value);
  const bool is_finite = count.nans == 0 && count.infinities == 0;
  if (name == kTraceStep) {
    seen_[place].value = value_line(value);
    seen_[place].has_nan = count.nans > 0;
    seen_[place].has_infinity = count.infinities > 0;
    if (!is_finite && !places_[place].is_operand && makes(place, value)) return made(place, value);
    return Value::scalar(lang::DType::Int64, place);
  }
  if (name == kTraceAdjoint) {
    if (!is_finite) return derived(place, "adjoint", value);
    seen_[place].adjoint = value_line(value);
  }
  if (name == kTraceTangent && !is_finite) return derived(place, "tangent", value);
  return value;
}

// A NaN is made where no operand is one, an infinity where all are finite.
bool FiniteWatcher::makes(std::size_t result, const Value& value) const {
  bool has_nan = false, has_infinity = false;
  for (std::size_t i = result; i-- > 0 && places_[i].is_operand && places_[i].result == result;) {
    has_nan = has_nan || seen_[i].has_nan;
    has_infinity = has_infinity || seen_[i].has_infinity;
  }
  return !has_nan && (!has_infinity || count_not_finite(value).nans > 0);
}

void FiniteWatcher::found(std::size_t place) {
  has_found_ = true;
  const FinitePlace& result = places_[places_[place].result];
  if (result.is_index_notation) index_notation_ = result.span;
}

Diagnostic FiniteWatcher::made(std::size_t place, const Value& value) {
  found(place);
  const FinitePlace& result = places_[place];
  Diagnostic diagnostic(
      DiagnosticKind::AssertionFailed,
      fmt::format("not finite: `{}` gives {}", result.maker, not_finite_text(value)), result.span);
  describe_operands(place, diagnostic);
  return diagnostic;
}

Diagnostic FiniteWatcher::derived(std::size_t place, std::string_view what, const Value& value) {
  found(place);
  const FinitePlace& at = places_[place];
  const FinitePlace& result = places_[at.result];
  const std::string text = not_finite_text(value);
  // An adjoint comes out of the rule at the operand, a tangent at the result.
  const bool is_of_rule = at.is_operand == (what == "adjoint");
  const auto of = [](lang::Span span) {
    return span ? fmt::format("`{}`", std::string(span.text().substr(0, span.text().find('\n'))))
                : std::string("a value");
  };
  Diagnostic diagnostic(
      DiagnosticKind::AssertionFailed,
      is_of_rule
          ? fmt::format("not finite: the {} of {} is {}, by the rule of `{}`", what, of(at.span),
                        text, at.maker)
          : fmt::format("not finite: the {} of {} is {}, as it comes in", what, of(at.span), text),
      result.span ? result.span : at.span);
  describe_operands(at.result, diagnostic);
  if (is_of_rule && what == "adjoint" && !seen_[at.result].adjoint.empty())
    diagnostic.note(fmt::format("note: the adjoint of the result is {}", seen_[at.result].adjoint));
  return diagnostic;
}

void FiniteWatcher::describe_operands(std::size_t result, Diagnostic& diagnostic) const {
  std::size_t first = result;
  while (first > 0 && places_[first - 1].is_operand && places_[first - 1].result == result) --first;
  for (std::size_t i = first; i < result; ++i) {
    const lang::Span span = places_[i].span;
    if (span && !(span == places_[result].span)) diagnostic.label(span, seen_[i].value);
  }
}

}  // namespace relay::repl
