#include "notebook/cells.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "lang/stop.h"
#include "lang/utf8.h"
#include "notebook/html.h"
#include "notebook/requests.h"
#include "notebook/value_html.h"
#include "repl/code_cache.h"
#include "repl/command.h"
#include "repl/command_parts.h"
#include "repl/display.h"
#include "repl/search_path.h"
#include "repl/shown_picture.h"
#include "repl/signals.h"

namespace relay::notebook {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// What these say is a text of the language, but for some stages of `:show`.
constexpr auto kProgramCommands =
    std::to_array<std::string_view>({":grad", ":show", ":opt", ":source", ":print", ":type"});
constexpr auto kOtherStages =
    std::to_array<std::string_view>({"loops", "schedule", "flow", "llvm", "asm", "plan"});

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const repl::Command* command_of(const std::string& line) {
  const auto found = repl::find_command(repl::split_word(line).first);
  return found ? *found : nullptr;
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

repl::Display display_of(const repl::SessionOptions& options) {
  constexpr std::size_t kLines = 24;
  repl::Display display;
  display.columns = options.shown.columns.value_or(display.columns);
  display.lines = options.shown.lines.value_or(kLines);
  display.counts_errors = true;
  return display;
}

}  // namespace

// Never taken down: what the session holds goes with the process, which is quicker by far.
Cells::Cells(CellEvents events)
    : events_(std::move(events)),
      streams_([this](Streams::Name name, const std::string& text) {
        if (!is_silent_) events_.on_text(name, text);
      }),
      session_(new repl::Session(options())) {
  constexpr int kNoBlankLines = 0;  // a cell may have as many empty lines as it likes
  driver_ = std::make_unique<repl::Driver>(*session_, driver_events(), kNoBlankLines);
  session_->set_interactive(true);
  // Whoever is asked in a cell could not be interrupted: the answer comes by the thread that runs
  // it.
  session_->set_at_stop([this](const std::string& where) {
    print(Streams::Name::Output, where + "(goes on: not supported in a notebook: to wait here)\n");
    return repl::Session::Resume::Continue;
  });
}

repl::SessionOptions Cells::options() {
  repl::SessionOptions options;
  options.search_path = repl::with_usual_folders({});
  options.code_cache = repl::code_cache_folder();
  options.write = [this](std::string_view text) { print(Streams::Name::Output, text); };
  options.warn = [this](const std::vector<Diagnostic>& warnings) {
    for (const Diagnostic& warning : warnings) print(Streams::Name::Error, lang::render(warning));
  };
  options.show_picture = [this](const repl::ShownPicture& picture) {
    show({without_line_end(picture.text), "", picture.svg}, events_.on_shown);
  };
  options.progress = [this](const std::string& path, std::int64_t done, std::int64_t whole) {
    if (whole <= 0 || is_silent_) return;
    const double share = static_cast<double>(done) / static_cast<double>(whole);
    events_.on_progress(fmt::format("{}: {:.0f} %", lang::printable_line(path), 100 * share));
  };
  return options;
}

repl::DriverEvents Cells::driver_events() {
  repl::DriverEvents events;
  events.on_item = [this](const repl::ItemResult& result) { show_item(result); };
  events.on_errors = [this](const std::vector<Diagnostic>& errors) { end_.errors = errors; };
  events.on_text = [this](std::string_view text) { show_text(text); };
  events.on_internal = [this](const std::string& what) { end_.internal_error = what; };
  events.on_table = [this](const repl::Table& table) {
    show({without_line_end(table_text(table)), html_of(table)}, events_.on_shown);
  };
  events.on_entry = [this](const std::string& entry) {
    command_ = repl::as_command(entry).value_or("");
    if (command_.empty()) return;
    const repl::Command* command = command_of(command_);
    if (command && command->name == ":edit") {
      throw lang::Failure(
          Diagnostic(DiagnosticKind::Unsupported,
                     "not supported in a notebook: `:edit`, which opens an editor "
                     "in a terminal")
              .note("help: `:source NAME` shows the text, to be changed in a cell"));
    }
  };
  events.replay = std::make_shared<repl::Replay>();
  events.gives_up_at_mistake = true;
  return events;
}

void Cells::show(const Shown& shown, const std::function<void(const Shown&)>& where) {
  show_types();
  streams_.flush();
  if (!is_silent_) where(shown);
}

void Cells::print(Streams::Name name, std::string_view text) {
  show_types();
  streams_.write(name, text);
}

void Cells::show_types() {
  if (types_.empty()) return;
  const std::string text = without_line_end(std::exchange(types_, ""));
  show({text, highlighted(text)}, events_.on_shown);
}

void Cells::show_item(const repl::ItemResult& result) {
  const std::string shown = repl::describe(result, display_of(session_->options()));
  if (shown.empty()) return;
  if (result.kind != parser::ItemKind::Expression) {
    types_ += shown;
    return;
  }
  const std::string text = without_line_end(shown);
  // The last line is the type, with what there is to note of the value.
  const std::size_t line = text.rfind('\n');
  const std::size_t type = line == std::string::npos ? text.rfind(" : " + result.type) : line;
  std::string html;
  if (!result.value.is_empty() && type != std::string::npos)
    html = html_of(result.value, std::string_view(text).substr(type + 1));
  show({text, html}, events_.on_result);
}

void Cells::show_text(std::string_view text) {
  const repl::Command* command = command_of(command_);
  const bool is_program =
      command && is_among(command->name, kProgramCommands) &&
      !is_among(repl::split_word(repl::split_word(command_).second).first, kOtherStages);
  if (is_program)
    return show({without_line_end(std::string(text)), highlighted(text)}, events_.on_shown);
  print(Streams::Name::Output, text);
}

CellEnd Cells::run(const std::string& code, bool is_silent) {
  const Request request;
  const repl::Signals::During running(repl::Signals::Meaning::Stop);
  end_ = {};
  is_silent_ = is_silent;
  try {
    end_.asks_to_quit = driver_->feed_block(code) == repl::Driver::State::Quit;
  } catch (const lang::Failure& failure) {
    end_.errors = failure.diagnostics;
  }
  // One that has come where nothing looked.
  if (end_.is_good() && lang::is_stopping()) end_.errors = {lang::stop_diagnostic()};
  show_types();
  streams_.flush();
  return std::move(end_);
}

lang::Result<Shown> Cells::evaluate(const std::string& expression) {
  const Request request;
  return lang::capture([&]() -> Shown {
    const lang::Value value = session_->evaluate(expression).or_throw();
    const std::string type = session_->type_of(expression).or_throw();
    return {lang::to_string(value), html_of(value, ": " + type)};
  });
}

std::vector<std::string> traceback_of(const CellEnd& end) {
  constexpr std::size_t kMostShown = 50;
  const std::size_t count = end.errors.size();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(count, kMostShown); ++i)
    lines.push_back(without_line_end(lang::render(end.errors[i], true)));
  if (count > kMostShown) lines.push_back(fmt::format("… and {} more", count - kMostShown));
  if (count > 1) lines.push_back(fmt::format("{} errors", count));
  if (!end.internal_error.empty()) {
    lines.push_back(
        fmt::format("internal error: {}\nThis is a mistake in relay, not in your "
                    "program. Please report it with what `:bug` writes.",
                    end.internal_error));
  }
  return lines;
}

}  // namespace relay::notebook
