#pragma once

#include <string>
#include <vector>

#include "repl/report.h"
#include "repl/session.h"

namespace relay::repl {

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
