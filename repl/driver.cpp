#include "repl/driver.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/stop.h"

namespace relay::repl {

Driver::State Driver::feed(std::string_view line) {
  const auto has_more = [&] {
    return has_more_of_block_ || (events_.has_more_lines && events_.has_more_lines());
  };
  for (const std::string& text : lines_.feed(line, has_more)) {
    const auto command = as_command(text);
    if (!command) {
      run_entry(text);
      continue;
    }
    if (events_.on_entry) events_.on_entry(text);
    if (run_command_line(*command) == State::Quit) return State::Quit;
  }
  return lines_.is_empty() ? State::Ready : State::NeedsMore;
}

Driver::State Driver::feed_block(std::string_view block) {
  State state = State::Ready;
  for (bool is_last = false; !is_last && state != State::Quit;) {
    const std::size_t end = block.find('\n');
    is_last = end == std::string_view::npos;
    has_more_of_block_ = !is_last;
    state = feed(block.substr(0, end));
    if (was_interrupted()) return State::Ready;
    if (!is_last) block.remove_prefix(end + 1);
  }
  return state == State::Quit ? state : finish();
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
  if (const auto entry = lines_.finish()) run_entry(*entry);
  return State::Ready;
}

void Driver::run_entry(const std::string& entry) {
  last_entry_ = entry;
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
