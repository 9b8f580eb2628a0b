#include "repl/text_errors.h"

#include "lang/stop.h"

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

}  // namespace relay::repl
