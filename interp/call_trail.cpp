#include "interp/call_trail.h"

#include <fmt/format.h>

#include "lang/stop.h"

namespace relay::interp {

using lang::Diagnostic;
using lang::Span;

namespace {

constexpr std::size_t kInner = 8;
constexpr std::size_t kOuter = 4;
constexpr std::size_t kLongestCall = 60;  // of its text

std::string count_text(std::int64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// The text of a call as far as it goes on one line.
std::string call_text(Span call) {
  const std::string_view text = call.text();
  std::string_view shown = text.substr(0, text.find('\n'));
  if (shown.size() > kLongestCall) {
    std::size_t end = kLongestCall;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end;
    shown = shown.substr(0, end);
  }
  return fmt::format("`{}{}`", shown, shown.size() < text.size() ? " …" : "");
}

std::string place_text(Span span) {
  const lang::Source::Position at = span.source->place(span.begin);
  return fmt::format("{}:{}:{}", span.source->name(), at.line, at.column);
}

std::string line_of(Span call, std::int64_t count, const CallTrail::FunctionAt& function_at) {
  const std::string function = function_at(call);
  std::string line = fmt::format("{}{}: {}", function.empty() ? "" : function + ", ",
                                 place_text(call), call_text(call));
  if (count > 1) line += fmt::format(", {} times", count_text(count));
  return line;
}

bool is_name_inside(Span part, Span whole) {
  return part && !(part == whole) && lang::join(part, whole) == whole &&
         !part.text().ends_with(')');
}

}  // namespace

void CallTrail::begin(Span place) {
  clear();
  for (const Span& call : lang::place_of(place).calls) push(call);
}

void CallTrail::add(Span call) {
  if (!call) return;
  const lang::Place place = lang::place_of(call);
  push(place.span);
  for (const Span& outer : place.calls) push(outer);
}

void CallTrail::add_tail_calls(std::int64_t count) { push(Entry{{}, count}); }

void CallTrail::push(Span call) { push(Entry{call, 1}); }

void CallTrail::push(Entry entry) {
  Entry* last = !outer_.empty() ? &outer_.back() : !inner_.empty() ? &inner_.back() : nullptr;
  // The function that a derivative is made of stands in the call of the derivative.
  if (last && entry.span && is_name_inside(last->span, entry.span)) {
    last->span = entry.span;
    return;
  }
  if (last && last->span == entry.span) {
    last->count += entry.count;
    return;
  }
  if (inner_.size() < kInner) {
    inner_.push_back(entry);
    return;
  }
  outer_.push_back(entry);
  if (outer_.size() <= kOuter) return;
  left_out_ += outer_.front().count;
  outer_.pop_front();
}

Span CallTrail::first_outside_library() const {
  const auto find = [](const auto& entries) {
    for (const Entry& entry : entries) {
      if (entry.span && !entry.span.source->is_library()) return entry.span;
    }
    return Span();
  };
  const Span found = find(inner_);
  return found ? found : find(outer_);
}

void CallTrail::describe(Diagnostic& diagnostic, const FunctionAt& function_at) const {
  lang::use_text_places(diagnostic);
  if (lang::is_stop(diagnostic.kind) || inner_.empty()) return;
  // An error without a place has happened at the innermost call.
  if (!diagnostic.span) diagnostic.span = inner_.front().span;
  const std::string function = function_at(diagnostic.span);
  std::string where = function.empty() ? "" : fmt::format("in {}, ", function);
  // A person's own line says more than one of the library.
  if (const Span own = diagnostic.span.source->is_library() ? first_outside_library() : Span()) {
    where = fmt::format("{}{}, ", where, place_text(diagnostic.span));
    diagnostic.span = own;
  }
  std::string note = fmt::format("note: {}called from", where);
  const auto add = [&](const Entry& entry) {
    note += "\n";
    if (entry.span) {
      note += line_of(entry.span, entry.count, function_at);
    } else {
      note += entry.count == 1 ? "… a call in tail position, which leaves no trace …"
                               : fmt::format("… {} calls in tail position, which leave no trace …",
                                             count_text(entry.count));
    }
  };
  for (const Entry& entry : inner_) add(entry);
  if (left_out_ > 0) note += fmt::format("\n… {} more calls …", count_text(left_out_));
  for (const Entry& entry : outer_) add(entry);
  diagnostic.note(std::move(note));
}

}  // namespace relay::interp
