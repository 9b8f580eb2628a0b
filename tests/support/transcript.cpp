#include "tests/support/transcript.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "repl/display.h"
#include "repl/driver.h"
#include "repl/session.h"
#include "tests/support/text_diff.h"

namespace relay::tests {

namespace {

constexpr std::string_view kPrompt = "relay> ";
constexpr std::string_view kMorePrompt = "  ...> ";
constexpr std::string_view kShellPrompt = "$ ";
constexpr std::string_view kAny = "…";

bool is_typed(std::string_view line) {
  return line.starts_with(kPrompt) || line.starts_with(kMorePrompt) || line == "relay>" ||
         line == "  ...>";
}

bool is_command(std::string_view line) { return line.starts_with(kShellPrompt); }

bool line_fits(std::string_view pattern, std::string_view text) {
  std::size_t any = pattern.find(kAny);
  if (any == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, any))) return false;
  text.remove_prefix(any);
  pattern.remove_prefix(any + kAny.size());
  while ((any = pattern.find(kAny)) != std::string_view::npos) {
    const std::size_t found = text.find(pattern.substr(0, any));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + any);
    pattern.remove_prefix(any + kAny.size());
  }
  return text.ends_with(pattern);
}

bool lines_fit(const Lines& pattern, std::size_t p, const Lines& text, std::size_t t) {
  for (; p < pattern.size(); ++p, ++t) {
    if (pattern[p] == kAny) {
      for (std::size_t rest = t; rest <= text.size(); ++rest) {
        if (lines_fit(pattern, p + 1, text, rest)) return true;
      }
      return false;
    }
    if (t == text.size() || !line_fits(pattern[p], text[t])) return false;
  }
  return t == text.size();
}

// `answer` says what came of a line that was typed.
template <class IsTyped, class Answer>
Lines run_block(const Lines& block, IsTyped is_typed_here, Answer answer) {
  Lines out;
  std::size_t at = 0;
  while (at < block.size() && !is_typed_here(block[at]))
    out.push_back(block[at++]);  // how it was started
  while (at < block.size()) {
    const std::string& typed = block[at++];
    out.push_back(typed);
    Lines shown;
    while (at < block.size() && !is_typed_here(block[at])) shown.push_back(block[at++]);
    const Lines right = fitting(shown, answer(typed));
    out.insert(out.end(), right.begin(), right.end());
  }
  return out;
}

std::string output_of(const std::string& command, const std::string& folder) {
  const std::string programs = std::filesystem::path(relay_program()).parent_path().string();
  FILE* const pipe = popen(
      fmt::format("cd '{}'; PATH='{}':$PATH; {{ {}\n}} 2>&1 </dev/null", folder, programs, command)
          .c_str(),
      "r");
  if (!pipe) throw std::runtime_error("no shell");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

}  // namespace

bool is_transcript(const Lines& block) { return std::any_of(block.begin(), block.end(), is_typed); }

Lines fitting(const Lines& shown, const Lines& came) {
  return lines_fit(shown, 0, came, 0) ? shown : came;
}

struct Transcript::State {
  explicit State(interp::JitMode mode) : session(options(mode)) {}

  repl::SessionOptions options(interp::JitMode mode) {
    repl::SessionOptions options;
    options.jit = mode;
    options.verify = true;
    options.interactive = true;
    options.write = [this](std::string_view text) { printed += text; };
    options.warn = [this](const std::vector<lang::Diagnostic>& warnings) { add(warnings); };
    return options;
  }

  void add(const std::vector<lang::Diagnostic>& diagnostics) {
    for (const lang::Diagnostic& diagnostic : diagnostics) printed += lang::render(diagnostic);
  }

  void add(const repl::ItemResult& result) {
    const repl::ShownSize& shown = session.options().shown;
    repl::Display display;
    display.columns = shown.columns.value_or(display.columns);
    display.lines = shown.lines.value_or(display.lines);
    printed += repl::describe(result, display);
  }

  static constexpr int kBlankLines = 1;
  std::string printed;
  repl::Session session;
  repl::Driver driver{
      session,
      {[this](const auto& result) { add(result); }, [this](const auto& errors) { add(errors); },
       [this](std::string_view text) { printed += text; }},
      kBlankLines};
};

Transcript::Transcript(interp::JitMode mode) : state_(std::make_unique<State>(mode)) {}
Transcript::~Transcript() = default;

Lines run_transcript(const Lines& block, const std::function<Lines(const std::string&)>& answer) {
  return run_block(block, is_typed, [&](const std::string& line) {
    return answer(line.substr(std::min(kPrompt.size(), line.size())));
  });
}

Lines Transcript::run(const Lines& block, std::vector<std::string>& problems) {
  return run_transcript(block, [&](const std::string& typed) {
    state_->printed.clear();
    try {
      state_->driver.feed(typed);
    } catch (const std::exception& error) {
      problems.push_back("internal error at `" + typed + "`: " + error.what());
    }
    return split_lines(state_->printed);
  });
}

Console::Console() {
  namespace fs = std::filesystem;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::current_path()))
    fs::create_symlink(entry.path(), fs::path(folder_.path()) / entry.path().filename());
}

Lines Console::run(const Lines& block) const {
  return run_block(block, is_command, [this](const std::string& typed) {
    return split_lines(output_of(typed.substr(kShellPrompt.size()), folder_.path()));
  });
}

}  // namespace relay::tests
