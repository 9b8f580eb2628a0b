#include "tests/support/typed_page.h"

#include <cstddef>
#include <memory>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "tests/support/page.h"
#include "tests/support/text_diff.h"
#include "tests/support/transcript.h"
#include "tests/support/typed_program.h"

namespace relay::tests {

namespace {

constexpr int kColumns = 120;  // no line of a page is longer
constexpr std::string_view kTypedPrompt = "relay> ";

// What a page does not have of what a terminal shows.
Lines without_marks(const Lines& shown) {
  static const std::regex number("  // _[0-9]+$");
  static const std::regex hint("^\\(:explain [A-Za-z]+ says more\\)$");
  Lines lines;
  for (const std::string& line : shown)
    if (!std::regex_match(line, hint)) lines.push_back(std::regex_replace(line, number, ""));
  return lines;
}

// A prompt in the root of the repository, with a home of its own.
class Prompt {
 public:
  Prompt()
      : program_(
            {relay_program()},
            {{{"HOME", home_.path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}}, 40, kColumns}) {
    program_.wait_for("relay>");
  }

  // Types an entry, and gives the lines that came of it.
  Lines answer(const std::string& entry) {
    const std::size_t row = program_.screen().row();
    if (!program_.enter(entry + '\r')) return {"there is no prompt after this"};
    const Lines lines = program_.screen().lines();
    const std::size_t typed_rows = (kTypedPrompt.size() + entry.size()) / kColumns + 1;
    return without_marks({lines.begin() + static_cast<std::ptrdiff_t>(row + typed_rows),
                          lines.begin() + static_cast<std::ptrdiff_t>(program_.screen().row())});
  }

 private:
  TemporaryFolder home_;
  TypedProgram program_;
};

}  // namespace

std::string type_page(const std::string& path) {
  const std::string page = text_of_file(path);
  std::unique_ptr<Prompt> prompt;
  const std::string typed = with_blocks(page, [&](std::string_view words, const Lines& block) {
    if (!words.starts_with("relay") || !is_transcript(block)) return block;
    if (!prompt || words == "relay") prompt = std::make_unique<Prompt>();
    return run_transcript(block, [&](const std::string& entry) { return prompt->answer(entry); });
  });
  return unified_diff(page, typed, path, "the screen");
}

}  // namespace relay::tests
