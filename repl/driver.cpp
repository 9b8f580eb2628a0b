#include "repl/driver.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/stop.h"
#include "repl/command_parts.h"
#include "repl/display.h"

namespace relay::repl {

Driver::Driver(Session& session, DriverEvents events, int blank_lines)
    : session_(session), events_(std::move(events)), lines_(blank_lines) {
  if (!events_.replay) events_.replay = std::make_shared<Replay>();
}

Driver::State Driver::feed(std::string_view line) {
  const auto has_more = [&] {
    return has_more_of_block_ || (events_.has_more_lines && events_.has_more_lines());
  };
  for (const std::string& text : lines_.feed(line, has_more)) {
    const auto command = as_command(text);
    if (!command) {
      run_entry(text);
    } else {
      if (events_.on_entry) events_.on_entry(text);
      events_.replay->add_entry(text);
      if (run_command_line(*command) == State::Quit) return State::Quit;
    }
    if (is_given_up_) break;
  }
  if (is_given_up_) lines_.abandon();
  return lines_.is_empty() ? State::Ready : State::NeedsMore;
}

Driver::State Driver::feed_block(std::string_view block) {
  State state = State::Ready;
  is_given_up_ = false;
  for (bool is_last = false; !is_last && state != State::Quit;) {
    const std::size_t end = block.find('\n');
    is_last = end == std::string_view::npos;
    has_more_of_block_ = !is_last;
    state = feed(block.substr(0, end));
    if (was_interrupted() || is_given_up_) return State::Ready;
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
  if (outcome.table && events_.on_table) {
    events_.replay->add_output(outcome.text);
    events_.on_table(*outcome.table);
  } else if (!outcome.text.empty()) {
    say(outcome.text);
  }
  report(outcome.errors);
  resume_ = outcome.resume;
  return outcome.quit || outcome.resume ? State::Quit : State::Ready;
}

bool Driver::was_interrupted() const {
  return is_interrupted_ || lang::pending_stop.load() == lang::Stop::Interrupted;
}

void Driver::report(const std::vector<lang::Diagnostic>& errors) {
  const bool has_interrupt =
      std::any_of(errors.begin(), errors.end(), [](const lang::Diagnostic& error) {
        return error.kind == lang::DiagnosticKind::Interrupted;
      });
  is_interrupted_ = has_interrupt && !session_.is_given_up();
  if (errors.empty()) return;
  had_errors_ = true;
  is_given_up_ = events_.gives_up_at_mistake;
  for (const lang::Diagnostic& error : errors) events_.replay->add_output(lang::render(error));
  if (events_.on_errors) events_.on_errors(errors);
}

Driver::State Driver::finish() {
  if (const auto entry = lines_.finish()) run_entry(*entry);
  return State::Ready;
}

namespace {

// As the outputs in a file of `:bug` are.
bool has_only_comments(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && (!line.starts_with("//") || line.starts_with("///"))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

void Driver::run_entry(const std::string& entry) {
  if (session_.is_stopped() && has_only_comments(entry)) return;
  last_entry_ = entry;
  if (events_.on_entry) events_.on_entry(last_entry_);
  events_.replay->add_entry(entry);
  run_text(last_entry_);
}

namespace {

// Where nobody can be asked an evaluation that stops says so and goes on.
class GoesOn {
 public:
  GoesOn(Session& session, std::function<void(std::string_view)> say)
      : session_(session), is_needed_(!session.has_at_stop() && say) {
    if (!is_needed_) return;
    session_.set_at_stop([say = std::move(say)](const std::string& where) {
      say(where);
      return Session::Resume::Continue;
    });
  }
  ~GoesOn() {
    if (is_needed_) session_.set_at_stop(nullptr);
  }
  GoesOn(const GoesOn&) = delete;
  GoesOn& operator=(const GoesOn&) = delete;

 private:
  Session& session_;
  bool is_needed_;
};

}  // namespace

void Driver::run_text(const std::string& text) {
  const GoesOn goes_on(session_, events_.on_text);
  surviving([&] {
    std::vector<ItemResult> results;
    const auto keep = [&](const ItemResult& result) {
      results.push_back({result.kind, result.name, "", {}, true, result.span, result.number});
      events_.replay->add_output(describe(result));
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
      is_given_up_ = events_.gives_up_at_mistake;
      events_.replay->add_output(fmt::format("internal error: {}\n", error.what()));
      events_.on_internal(error.what());
    }
  }
}

}  // namespace relay::repl
