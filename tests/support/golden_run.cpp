#include "tests/support/golden_run.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>

#include "lang/diagnostic.h"
#include "repl/command.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "repl/session.h"
#include "tests/support/golden_file.h"
#include "tests/support/native_code.h"
#include "tests/support/text_diff.h"

namespace relay::tests {

using lang::Diagnostic;
using lang::Span;

namespace {

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int code_points(std::string_view bytes) {
  return static_cast<int>(std::count_if(bytes.begin(), bytes.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// A place within the span's own source.
Place place_in_source(Span span) {
  const std::string_view text = span.source->text();
  span.end = std::min(span.end, static_cast<std::uint32_t>(text.size()));
  span.begin = std::min(span.begin, span.end);
  while (span.end > span.begin + 1 && is_white(text[span.end - 1])) --span.end;
  const auto column = [&](lang::Source::Position at) {
    return code_points(span.source->line(at.line).substr(0, at.column - 1)) + 1;
  };
  const auto first = span.source->position(span.begin);
  Place place{static_cast<int>(first.line), column(first), static_cast<int>(first.line),
              column(first), ""};
  if (span.end > span.begin + 1) {
    auto last = span.source->position(span.end - 1);
    while (last.column > 1 && (static_cast<unsigned char>(text[--span.end]) & 0xC0) == 0x80) {
      --last.column;  // to the first byte of the last character
    }
    place.last_line = static_cast<int>(last.line);
    place.last_column = column(last);
  }
  return place;
}

class GoldenSession {
 public:
  GoldenSession(const std::string& path, const std::string& text, interp::JitMode mode)
      : path_(path), text_(text), lines_(split_lines(text)), session_(options(mode)) {}

  GoldenRun run() {
    const bool is_strict = text_.starts_with("#[version");
    const bool asks = std::any_of(lines_.begin(), lines_.end(), [](const std::string& line) {
      return line.starts_with(':') || line.find("// expect-error ") != std::string::npos;
    });
    if (is_strict || !asks) {
      run_whole();
    } else {
      run_line_by_line();
    }
    const interp::Statistics& statistics = session_.evaluator().statistics();
    run_.native_kernels = statistics.kernels_run_native;
    run_.native_functions = statistics.functions_compiled;
    run_.on_lanes = without_native_code(statistics);
    for (auto& [line, events] : entries_) run_.entries.push_back({line, std::move(events)});
    return std::move(run_);
  }

 private:
  repl::SessionOptions options(interp::JitMode mode) {
    repl::SessionOptions options;
    options.jit = mode;
    options.verify = true;
    options.search_path = {std::filesystem::path(path_).parent_path().string()};
    std::vector<std::string> ignored;
    const std::string folder = path_.empty() ? "" : golden_options(text_, ignored).folder;
    if (!folder.empty()) options.search_path.push_back(folder);
    options.write = [this](std::string_view text) { put(text); };
    options.warn = [this](const std::vector<Diagnostic>& warnings) { on_warnings(warnings); };
    return options;
  }

  // --- What happens ---

  // Output may come in pieces; an event is a whole line.
  void put(std::string_view text) {
    for (const char c : text) {
      if (c == '\n') {
        add({false, std::move(partial_line_)});
        partial_line_.clear();
      } else {
        partial_line_ += c;
      }
    }
  }

  void add(Event event) {
    while (event.text.ends_with(' ')) event.text.pop_back();
    pending_.push_back(std::move(event));
  }

  // What was put out since the last call belongs to the entry of this line.
  void settle(int line) {
    if (!partial_line_.empty()) put("\n");
    auto& events = entries_[line];
    std::move(pending_.begin(), pending_.end(), std::back_inserter(events));
    pending_.clear();
  }

  void on_errors(const std::vector<Diagnostic>& errors) {
    if (!partial_line_.empty()) put("\n");
    for (const Diagnostic& error : errors) {
      std::string message = error.message;
      std::replace(message.begin(), message.end(), '\n', ' ');
      Event event{true, std::string(lang::name_of(error.kind)) + ": " + message,
                  place_of(error.span), split_lines(lang::render(error))};
      event.rendering.erase(event.rendering.begin());
      for (std::string& line : event.rendering) anonymise(line);
      add(std::move(event));
    }
  }

  // Names in a rendering that change when something is added above it.
  void anonymise(std::string& line) const {
    const std::size_t entry = line.find("<entry ");
    if (entry != std::string::npos) line.erase(entry + 6, line.find('>', entry) - entry - 6);
    const std::size_t path = path_.empty() ? std::string::npos : line.find(path_);
    if (path != std::string::npos) line.replace(path, path_.size(), "<file>");
  }

  template <class F>
  void guarded(F&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      if (!partial_line_.empty()) put("\n");
      run_.has_internal_error = true;
      for (const std::string& line : split_lines(error.what()))
        add({false, "internal error: " + line});
    }
  }

  // --- Places ---

  Place place_of(const Span& span) {
    if (!span) return {0, 0, 0, 0, "nowhere"};
    Place place = place_in_source(span);
    const std::string& name = span.source->name();
    if (name == source_name()) return place;
    if (const auto entry = entry_lines_.find(name); entry != entry_lines_.end()) {
      place.line += entry->second - 1;
      place.last_line += entry->second - 1;
      return place;
    }
    // The argument of the command that is running.
    if (current_line_ > 0 && name.starts_with('<')) {
      const std::string& line = lines_[static_cast<std::size_t>(current_line_) - 1];
      const std::size_t at = line.rfind(span.source->text());
      if (at != std::string::npos) {
        const int shift = code_points(std::string_view(line).substr(0, at));
        return {current_line_, place.column + shift, current_line_, place.last_column + shift, ""};
      }
    }
    return {0, 0, 0, 0, name};
  }

  std::string source_name() const { return path_.empty() ? "<block>" : path_; }

  // --- The two ways to run ---

  void on_item(repl::ItemResult result) {
    result.hide_value = false;  // only the prompt heeds a `;`
    if (result.kind == parser::ItemKind::Expression) {
      evaluated_ = true;
      put(repl::describe(result));
    }
  }

  void on_warnings(const std::vector<Diagnostic>& warnings) {
    for (const Diagnostic& warning : warnings) {
      on_errors({warning});
      if (is_whole_) settle(entry_at(place_of(warning.span).line));
    }
  }

  void run_whole() {
    is_whole_ = true;
    std::string text;
    std::vector<int> commands;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with(':')) commands.push_back(static_cast<int>(i) + 1);
      text += lines_[i].starts_with(':') ? std::string(lines_[i].size(), ' ') : lines_[i];
      text += '\n';
    }
    guarded([&] {
      const auto on_result = [&](const repl::ItemResult& result) {
        on_item(result);
        settle(place_of(result.span).line);
      };
      const auto errors = path_.empty() || !commands.empty()
                              ? session_.run(source_name(), text, on_result)
                              : session_.run_file(path_, on_result);
      for (const Diagnostic& error : errors) {
        on_errors({error});
        settle(entry_at(place_of(error.span).line));
      }
      if (errors.empty() && !evaluated_ && session_.has_main()) {
        on_errors(session_.run("<main>", "@main()", [&](const auto& item) { on_item(item); }));
      }
    });
    settle(entry_at(static_cast<int>(lines_.size())));
    for (const int line : commands) {
      current_line_ = line;
      guarded([&] {
        const auto outcome =
            repl::run_command(session_, lines_[static_cast<std::size_t>(line) - 1]);
        put(outcome.text);
        on_errors(outcome.errors);
        if (outcome.request == repl::CommandOutcome::Request::Load)
          on_errors(session_.run_file(outcome.argument, [&](const auto& item) { on_item(item); }));
      });
      settle(line);
    }
  }

  // The entry that a line belongs to; a new one if there is none before it.
  int entry_at(int line) const {
    const auto after = entries_.upper_bound(line);
    return after == entries_.begin() ? std::max(line, 1) : std::prev(after)->first;
  }

  void run_line_by_line() {
    constexpr int kBlankLines = 1;  // as tests/README.md says
    repl::Driver driver(
        session_,
        {[&](const auto& result) { on_item(result); },
         [&](const auto& errors) { on_errors(errors); }, [&](std::string_view text) { put(text); }},
        kBlankLines);
    int pending_line = 0;  // where the entry that is being gathered begins
    int entries = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      if (driver.ends_before(lines_[i])) {
        guarded([&] { driver.finish(); });
        settle_code(pending_line, line - 1);
        pending_line = 0;
      }
      const bool is_blank = lines_[i].find_first_not_of(" \t") == std::string::npos;
      if (pending_line == 0 && !is_blank) {
        pending_line = line;
        if (lines_[i][lines_[i].find_first_not_of(" \t")] == ':') {
          current_line_ = line;  // places of a command's errors are asked for while it runs
        } else {
          entry_lines_["<entry " + std::to_string(++entries) + ">"] = line;
        }
      }
      if (pending_line == 0) continue;
      auto state = repl::Driver::State::Ready;
      guarded([&] { state = driver.feed(lines_[i]); });
      if (state == repl::Driver::State::NeedsMore) continue;
      settle_code(pending_line, line);
      pending_line = 0;
      if (state == repl::Driver::State::Quit) return;
    }
    guarded([&] { driver.finish(); });
    if (pending_line > 0) settle_code(pending_line, static_cast<int>(lines_.size()));
  }

  void settle_code(int first, int last) {
    if (has_code(first, last) || !pending_.empty()) settle(first);
    current_line_ = 0;
  }

  // Is there more than comments?
  bool has_code(int first, int last) const {
    for (int line = first; line <= last; ++line) {
      const std::string& text = lines_[static_cast<std::size_t>(line) - 1];
      const std::size_t begin = text.find_first_not_of(" \t");
      if (begin != std::string::npos && text.compare(begin, 2, "//") != 0) return true;
    }
    return false;
  }

  const std::string& path_;
  const std::string& text_;
  const std::vector<std::string> lines_;
  GoldenRun run_;
  std::map<int, std::vector<Event>> entries_;  // by first line
  std::vector<Event> pending_;
  std::string partial_line_;
  std::map<std::string, int> entry_lines_;  // first line by source name
  int current_line_ = 0;                    // of the command that is running
  bool is_whole_ = false;                   // the text runs as `relay FILE` does
  bool evaluated_ = false;
  repl::Session session_;  // last: it writes through this object
};

}  // namespace

GoldenRun run_golden(const std::string& path, const std::string& text, interp::JitMode mode) {
  return GoldenSession(path, text, mode).run();
}

}  // namespace relay::tests
