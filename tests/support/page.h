#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/eval.h"

// The ```relay blocks of a Markdown page, each run in a fresh session.
namespace relay::tests {

struct PageRun {
  std::string text;                   // the page with the outputs that came
  std::vector<std::string> problems;  // errors where a block expects none, mistakes of ours
  int blocks = 0;
};

// A block whose lines begin with `relay> ` is a transcript of the prompt and shows what it prints;
// `…` in it stands for any text, alone on a line for any lines. Any other block is a golden file;
// if it expects nothing, it must only run without errors.
PageRun run_page(std::string_view page, interp::JitMode mode);

}  // namespace relay::tests
