#include "repl/driver.h"

#include <algorithm>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/stop.h"

namespace relay::repl {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

using parser::Completeness;

// A text that is not looked at to its end, as somebody interrupts, is complete: whoever runs it
// says so.
Completeness completeness_of(const std::string& text) {
  auto result = Completeness::Complete;
  interp::EvaluationStack::instance().run([&] {
    if (const auto known = lang::capture([&] { return parser::completeness(text); }))
      result = *known;
  });
  return result;
}

// Does the text end with an `if` that may have an `else`?
bool takes_else(const std::string& text) {
  return text.find("if") != std::string::npos &&
         completeness_of(text + "\nelse {") == Completeness::Incomplete;
}

bool begins_with_else(std::string_view line) {
  constexpr std::string_view kElse = "else";
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with(kElse) &&
         (line.size() == kElse.size() ||
          std::string_view(" \t\r{/").find(line[kElse.size()]) != std::string_view::npos);
}

}  // namespace

void Driver::abandon() {
  entry_.clear();
  waits_for_else_ = false;
  is_broken_ = false;
}

bool Driver::ends_before(std::string_view line) const {
  return (waits_for_else_ && !begins_with_else(line)) || (is_broken_ && line.starts_with(':')) ||
         parser::is_cut_by(entry_, line);
}

Driver::State Driver::feed(std::string_view line) {
  if (ends_before(line)) run_entry();
  const bool blank = is_blank(line);
  if (entry_.empty()) {
    if (blank) return State::Ready;
    if (const auto command = as_command(line)) {
      if (events_.on_entry) events_.on_entry(std::string(line));
      return run_command_line(*command);
    }
  }
  blank_run_ = blank ? blank_run_ + 1 : 0;
  if (!entry_.empty()) entry_ += '\n';
  entry_ += line;
  const bool forced = blank && blank_run_ == blank_lines_;
  const auto known = forced ? Completeness::Complete : completeness_of(entry_);
  waits_for_else_ = false;
  if (known == Completeness::Incomplete) return State::NeedsMore;
  is_broken_ = known == Completeness::Broken && events_.has_more_lines && events_.has_more_lines();
  waits_for_else_ = !forced && !is_broken_ && takes_else(entry_);
  if (is_broken_ || waits_for_else_) return State::NeedsMore;
  run_entry();
  return State::Ready;
}

Driver::State Driver::run_command_line(std::string_view line) {
  CommandOutcome outcome;
  surviving([&] {
    outcome = run_command(session_, line);
    if (outcome.request != CommandOutcome::Request::None) outcome.errors = carry_out(outcome);
  });
  if (!outcome.text.empty() && events_.on_text) events_.on_text(outcome.text);
  report(outcome.errors);
  return outcome.quit ? State::Quit : State::Ready;
}

bool Driver::was_interrupted() const {
  return is_interrupted_ || lang::pending_stop.load() == lang::Stop::Interrupted;
}

void Driver::report(const std::vector<lang::Diagnostic>& errors) {
  is_interrupted_ = std::any_of(errors.begin(), errors.end(), [](const lang::Diagnostic& error) {
    return error.kind == lang::DiagnosticKind::Interrupted;
  });
  if (errors.empty()) return;
  had_errors_ = true;
  if (events_.on_errors) events_.on_errors(errors);
}

Driver::State Driver::finish() {
  if (!entry_.empty()) run_entry();
  return State::Ready;
}

void Driver::run_entry() {
  last_entry_ = std::move(entry_);
  entry_.clear();
  blank_run_ = 0;
  waits_for_else_ = false;
  is_broken_ = false;
  // Empty lines that ended the entry are no part of it.
  last_entry_.erase(last_entry_.find_last_not_of(" \t\r\n") + 1);
  if (events_.on_entry) events_.on_entry(last_entry_);
  run_text(last_entry_);
}

void Driver::run_text(const std::string& text) {
  surviving([&] {
    std::vector<ItemResult> results;
    const auto keep = [&](const ItemResult& result) {
      results.push_back({result.kind, result.name, "", {}, true, result.span, result.number});
      if (events_.on_item) events_.on_item(result);
    };
    const auto errors = session_.run(fmt::format("<entry {}>", ++entries_), text, keep);
    if (errors.empty()) inputs_.add(text, results);
    report(errors);
  });
}

void Driver::surviving(const std::function<void()>& body) {
  if (!events_.on_internal) return body();
  try {
    body();
  } catch (...) {
    try {
      report(lang::caught_diagnostics());  // a request to stop, outside what a session does
      lang::clear_stop();
    } catch (const std::exception& error) {
      had_errors_ = true;
      events_.on_internal(error.what());
    }
  }
}

}  // namespace relay::repl
