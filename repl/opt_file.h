#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/file_access.h"
#include "repl/bound_parameters.h"
#include "repl/report.h"

namespace relay::repl {

struct OptRequest {
  std::string path;
  std::string passes;
  bool list = false;
  bool lists_analyses = false;
  bool print_after = false;   // the program after each pass
  bool differences = false;   // the program, and which lines of it each pass changes
  bool times = false;         // how long each took
  std::string analysis = {};  // what is said of the program instead of printing it
  std::optional<int> level;   // of the passes; without a list, all that make code faster
  Bindings bindings = {};     // of parameters, before the passes
  std::string rules = {};     // a file of rewrite rules, applied before the passes
  // `relay build_external`: no passes, but what hands parts of the file to these compilers.
  std::string compilers = {};
  std::vector<std::string> plugins = {};  // that are opened before
};

// `relay opt -p PASSES FILE`, `relay build_external --compiler NAMES FILE`: prints the functions
// and types of the file after the passes, in the notation of the file, with what else is in a file
// in light notation, and runs nothing; or says of it what an analysis finds. `relay opt --list` and
// `--analyses`: which there are. Returns the exit code of the program.
int optimise_file(const OptRequest& request, const std::vector<std::string>& search_path,
                  const formats::FileAccess& files, Reporter& reporter);

}  // namespace relay::repl
