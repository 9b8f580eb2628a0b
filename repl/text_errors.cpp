#include "repl/text_errors.h"

#include <fmt/format.h>

#include "lang/stop.h"
#include "repl/session_state.h"

namespace relay::repl {

using lang::Diagnostic;

void TextErrors::add(const std::vector<Diagnostic>& found, lang::Span item) {
  for (Diagnostic error : found) {
    if (!error.span) error.span = item;
    const lang::Span at = error.span;
    if (!seen_.emplace(at.source, at.begin, at.end, error.message).second) continue;
    is_stopped_ |= lang::is_stop(error.kind);
    by_place_.emplace(at.source == item.source ? at.begin : item.begin, std::move(error));
  }
}

std::vector<Diagnostic> TextErrors::take() {
  std::vector<Diagnostic> list;
  for (auto& [place, error] : by_place_) list.push_back(std::move(error));
  return list;
}

namespace {

// The `let` of the name that the error is about; null if there is none.
const parser::Item* unknown_let(const Diagnostic& error, const std::vector<parser::Item>& items,
                                const std::function<bool(const std::string&)>& is_pending) {
  for (const parser::Item& item : items) {
    if (item.kind != parser::ItemKind::Let) continue;
    for (const std::string& name : names_of(item)) {
      const bool is_meant = error.message.find("`" + name + "`") != std::string::npos;
      if (is_meant && is_pending(name)) return &item;
    }
  }
  return nullptr;
}

}  // namespace

void help_with_order(std::vector<Diagnostic>& errors, const std::vector<parser::Item>& items,
                     const std::function<bool(const std::string&)>& is_pending) {
  for (Diagnostic& error : errors) {
    if (error.kind != lang::DiagnosticKind::UnknownName || !error.span) continue;
    const parser::Item* let = unknown_let(error, items, is_pending);
    if (!let) continue;
    error.notes = {
        fmt::format("help: `{}` is bound below, at line {}; a `let` stands before what uses it",
                    error.span.text(), let->span.source->place(let->span.begin).line)};
  }
}

}  // namespace relay::repl
