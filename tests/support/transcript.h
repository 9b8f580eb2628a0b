#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interp/eval.h"
#include "tests/support/typed_program.h"

// Transcripts: what was typed, behind a prompt, and what was shown after it. `…` in what is shown
// stands for any text, alone on a line for any lines.
namespace relay::tests {

using Lines = std::vector<std::string>;

// Is there a line that was typed at Relay's prompt?
bool is_transcript(const Lines& block);

// `shown` if it fits what came, else what came.
Lines fitting(const Lines& shown, const Lines& came);

// A transcript with what `answer` gives for what was typed, the prompt left out; where that fits
// what is shown, it is left.
Lines run_transcript(const Lines& block, const std::function<Lines(const std::string&)>& answer);

// A session whose inputs and outputs stand in blocks of a page.
class Transcript {
 public:
  explicit Transcript(interp::JitMode mode);
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // The block with the outputs that came. What is a mistake of ours is added to `problems`.
  Lines run(const Lines& block, std::vector<std::string>& problems);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same of commands of a shell, behind `$ `, in a folder where everything in the root of the
// repository is at hand, and what is written is gone afterwards. `relay` is that of this build.
class Console {
 public:
  Console();
  Lines run(const Lines& block) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace relay::tests
