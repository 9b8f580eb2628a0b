#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "interp/eval.h"

// Runs the text of a golden file and tells, by line, what came of it.
namespace relay::tests {

// Where a diagnostic points. Lines and columns count from 1, columns in code points; both ends are
// part of it.
struct Place {
  int line = 0;  // 0: not in this text
  int column = 0;
  int last_line = 0;
  int last_column = 0;
  std::string elsewhere;  // when `line` is 0: the name of the other source, or "nowhere"
};

struct Event {
  bool is_error = false;
  std::string text;                         // a line of output; of an error "Kind: message"
  Place place = {};                         // of an error
  std::vector<std::string> rendering = {};  // of an error: what a person sees below its first line
};

// An item or a command, with what it put out and the errors it ended with, in order.
struct Entry {
  int first_line;
  std::vector<Event> events;
};

struct GoldenRun {
  std::vector<Entry> entries;  // by first_line
  bool has_internal_error = false;
  std::int64_t native_kernels = 0;      // that ran as native code
  std::int64_t native_functions = 0;    // that were compiled
  std::set<std::string> on_lanes = {};  // the code of kernels that should have, and did not
};

// A text with commands or expected errors is given line by line to the prompt's driver; any other
// is run as `relay FILE` does it. The command lines of a strict text run after the rest of it.
// `path` names the file; it is empty for a block of a page, whose text is in no file.
GoldenRun run_golden(const std::string& path, const std::string& text, interp::JitMode mode);

}  // namespace relay::tests
