#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/eval.h"
#include "tests/support/transcript.h"

// The ```relay and ```console blocks of a Markdown page, run.
namespace relay::tests {

// What becomes of a block behind three backticks and `words`.
using RunBlock = std::function<Lines(std::string_view words, const Lines& block)>;
std::string with_blocks(std::string_view page, const RunBlock& run);

struct PageRun {
  std::string text;                   // the page with the outputs that came
  std::vector<std::string> problems;  // errors where a block expects none, mistakes of ours
  int blocks = 0;
};

// A ```relay block whose lines begin with `relay> ` is a transcript of the prompt and shows what it
// prints; `…` in it stands for any text, alone on a line for any lines. Any other is a golden file;
// if it expects nothing, it must only run without errors. Each has a session of its own, but for a
// ```relay continued, which goes on with that of the transcript before it. In a ```console block
// lines that begin with `$ ` are commands of a shell; the blocks of a page share a folder.
PageRun run_page(std::string_view page, interp::JitMode mode);

}  // namespace relay::tests
