#pragma once

#include <string>
#include <vector>

#include "repl/report.h"
#include "repl/session.h"

namespace relay::repl {

// A search for a schedule of a function, by measuring a call of it.
struct TuneRequest {
  std::string function;
  std::string call;  // what is run; with its arguments at hand
  double seconds = 10;
};
struct Tuned {
  std::string schedule;        // its steps; empty: none was faster than the generic one
  double generic_seconds = 0;  // medians of runs in turn
  double best_seconds = 0;
  int tried = 0;
};

// Draws schedules, and changes the best one so far, until the time is over. Each is run in turn
// with the best one, and the medians are compared. Leaves the function as it was.
lang::Result<Tuned> tune(Session& session, const TuneRequest& request);
// What came of it, as a text that can be pasted.
std::string describe(const Tuned& tuned, const TuneRequest& request);

// `:tune f(x, y) 10s`, or `:tune f 10s` where the types of the parameters say their shapes.
lang::Result<std::string> tune_command(Session& session, std::string_view argument);

// `relay tune FILE`: each function of the file with index notation, by the last expression of the
// file that calls it.
struct TuneFile {
  std::string path;
  std::string function;  // empty: all
  double seconds = 10;   // for each
};
int tune_file(const TuneFile& request, const std::vector<std::string>& search_path,
              Reporter& reporter);

}  // namespace relay::repl
