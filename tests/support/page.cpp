#include "tests/support/page.h"

#include <cstddef>
#include <memory>
#include <optional>

#include "tests/support/golden_file.h"
#include "tests/support/golden_run.h"
#include "tests/support/text_diff.h"
#include "tests/support/transcript.h"

namespace relay::tests {

namespace {

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

// The blocks of one page; a transcript may go on with the session of the one before.
class Blocks {
 public:
  Blocks(interp::JitMode mode, PageRun& page) : mode_(mode), page_(page) {}

  // The block behind a line of three backticks and `words`, as it should be.
  Lines run(std::string_view words, const Lines& block) {
    const bool goes_on = words == "relay continued";
    if (words != "relay" && words != "console" && !goes_on) return block;
    ++page_.blocks;
    if (words == "console") {
      if (!console_) console_.emplace();
      return console_->run(block);
    }
    if (!goes_on && !is_transcript(block)) return run_golden_block(block, mode_, page_);
    if (!goes_on) session_ = std::make_unique<Transcript>(mode_);
    if (session_) return session_->run(block, page_.problems);
    page_.problems.emplace_back("a transcript goes on, and there is none before it");
    return block;
  }

 private:
  interp::JitMode mode_;
  PageRun& page_;
  std::optional<Console> console_;  // its folder has a link to each thing in the repository's root
  std::unique_ptr<Transcript> session_;
};

}  // namespace

std::string with_blocks(std::string_view page, const RunBlock& run) {
  constexpr std::string_view kFence = "```";
  Lines out;
  const Lines lines = split_lines(page);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    out.push_back(lines[at]);
    if (!lines[at].starts_with(kFence)) continue;
    Lines block;
    std::size_t end = at + 1;
    while (end < lines.size() && !lines[end].starts_with(kFence)) block.push_back(lines[end++]);
    block = run(std::string_view(lines[at]).substr(kFence.size()), block);
    out.insert(out.end(), block.begin(), block.end());
    if (end < lines.size()) out.push_back(lines[end]);
    at = end;
  }
  return join_lines(out);
}

PageRun run_page(std::string_view page_text, interp::JitMode mode) {
  PageRun page;
  Blocks blocks(mode, page);
  page.text = with_blocks(page_text, [&](std::string_view words, const Lines& block) {
    return blocks.run(words, block);
  });
  return page;
}

}  // namespace relay::tests
