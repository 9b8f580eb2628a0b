#include "repl/driver.h"

#include <fmt/format.h>

#include "repl/command.h"

namespace relay::repl {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::string describe(const ItemResult& result) {
  switch (result.kind) {
    case parser::ItemKind::Def:
    case parser::ItemKind::Let:
      return fmt::format("{} : {}\n", result.name, result.type);
    case parser::ItemKind::Expression: {
      if (result.hide_value || result.type == "()") return "";
      const std::string value =
          result.value.is_empty() ? "<function>" : lang::to_string(result.value);
      // A value of several lines is followed by its type on a line of its own.
      return fmt::format("{}{}: {}\n", value, value.find('\n') == std::string::npos ? " " : "\n",
                         result.type);
    }
    default:
      return "";
  }
}

Driver::State Driver::feed(std::string_view line) {
  ++line_;
  if (entry_.empty()) {
    if (is_blank(line)) return State::Ready;
    entry_start_ = line_;
    const std::size_t first = line.find_first_not_of(" \t");
    if (line[first] == ':') {
      entry_line_ = line_;
      const CommandOutcome outcome = run_command(session_, line.substr(first));
      if (!outcome.errors.empty()) {
        had_errors_ = true;
        if (events_.on_errors) events_.on_errors(outcome.errors);
      }
      if (!outcome.text.empty() && events_.on_text) events_.on_text(outcome.text);
      return outcome.quit ? State::Quit : State::Ready;
    }
  }
  const bool forced = is_blank(line);  // an empty line ends an entry
  if (!forced) {
    if (!entry_.empty()) entry_ += '\n';
    entry_ += line;
    if (parser::completeness(entry_) == parser::Completeness::Incomplete) return State::NeedsMore;
  }
  run_entry();
  return State::Ready;
}

Driver::State Driver::finish() {
  if (!entry_.empty()) run_entry();
  return State::Ready;
}

void Driver::run_entry() {
  last_entry_ = std::move(entry_);
  entry_.clear();
  entry_line_ = entry_start_;
  const auto errors =
      session_.run(fmt::format("<entry {}>", ++entries_), last_entry_, events_.on_item);
  if (errors.empty()) return;
  had_errors_ = true;
  if (events_.on_errors) events_.on_errors(errors);
}

}  // namespace relay::repl
