#include "tests/support/page.h"

#include <cstddef>
#include <exception>
#include <utility>

#include "repl/display.h"
#include "repl/driver.h"
#include "repl/session.h"
#include "tests/support/golden_file.h"
#include "tests/support/golden_run.h"
#include "tests/support/text_diff.h"

namespace relay::tests {

namespace {

constexpr std::string_view kPrompt = "relay> ";
constexpr std::string_view kMorePrompt = "  ...> ";
constexpr std::string_view kAny = "…";

using Lines = std::vector<std::string>;

// What was typed on this line of a transcript.
bool is_typed(std::string_view line) {
  return line.starts_with(kPrompt) || line.starts_with(kMorePrompt) || line == "relay>" ||
         line == "  ...>";
}

bool is_transcript(const Lines& block) {
  for (const std::string& line : block) {
    if (is_typed(line)) return true;
  }
  return false;
}

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

Lines run_transcript(const Lines& block, interp::JitMode mode, PageRun& page) {
  std::string printed;
  repl::SessionOptions options;
  options.jit = mode;
  options.verify = true;
  options.interactive = true;
  options.write = [&](std::string_view text) { printed += text; };
  options.warn = [&](const std::vector<lang::Diagnostic>& warnings) {
    for (const lang::Diagnostic& warning : warnings) printed += lang::render(warning);
  };
  repl::Session session(std::move(options));
  constexpr int kBlankLines = 1;
  repl::Driver driver(session,
                      {[&](const auto& result) {
                         const repl::ShownSize& shown = session.options().shown;
                         repl::Display display;
                         display.columns = shown.columns.value_or(display.columns);
                         display.lines = shown.lines.value_or(display.lines);
                         printed += repl::describe(result, display);
                       },
                       [&](const auto& errors) {
                         for (const auto& error : errors) printed += lang::render(error);
                       },
                       [&](std::string_view text) { printed += text; }},
                      kBlankLines);
  Lines out;
  std::size_t at = 0;
  while (at < block.size() && !is_typed(block[at]))
    out.push_back(block[at++]);  // how it was started
  while (at < block.size()) {
    const std::string& typed = block[at++];
    out.push_back(typed);
    printed.clear();
    try {
      driver.feed(std::string_view(typed).substr(std::min(kPrompt.size(), typed.size())));
    } catch (const std::exception& error) {
      page.problems.push_back("internal error at `" + typed + "`: " + error.what());
    }
    Lines shown;
    while (at < block.size() && !is_typed(block[at])) shown.push_back(block[at++]);
    const Lines came = split_lines(printed);
    const Lines& right = lines_fit(shown, 0, came, 0) ? shown : came;
    out.insert(out.end(), right.begin(), right.end());
  }
  return out;
}

Lines run_golden_block(const Lines& block, interp::JitMode mode, PageRun& page) {
  const std::string text = join_lines(block);
  const GoldenOptions options = golden_options(text, page.problems);
  if (!options.skip.empty()) return block;
  const GoldenRun run = run_golden("", text, mode);
  const bool expects = has_expectations(text);
  for (const Entry& entry : run.entries) {
    for (const Event& event : entry.events) {
      const bool bad = (event.is_error && !expects) || event.text.starts_with("internal error: ");
      if (bad) page.problems.push_back("a block fails: " + event.text);
    }
  }
  for (const std::string& code : run.on_lanes)
    page.problems.push_back("no native code for `" + code + "`");
  return expects ? split_lines(with_expectations(text, run)) : block;
}

}  // namespace

PageRun run_page(std::string_view page_text, interp::JitMode mode) {
  PageRun page;
  Lines out;
  const Lines lines = split_lines(page_text);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    out.push_back(lines[at]);
    if (!lines[at].starts_with("```")) continue;
    Lines block;
    std::size_t end = at + 1;
    while (end < lines.size() && !lines[end].starts_with("```")) block.push_back(lines[end++]);
    if (lines[at] == "```relay") {
      ++page.blocks;
      block = is_transcript(block) ? run_transcript(block, mode, page)
                                   : run_golden_block(block, mode, page);
    }
    out.insert(out.end(), block.begin(), block.end());
    if (end < lines.size()) out.push_back(lines[end]);
    at = end;
  }
  page.text = join_lines(out);
  return page;
}

}  // namespace relay::tests
