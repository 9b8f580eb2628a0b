#pragma once

#include <string>
#include <vector>

#include "formats/file_access.h"
#include "repl/report.h"

namespace relay::repl {

struct GradRequest {
  std::string path;
  std::string function;  // its name, or an expression; empty: the only one of the file
  std::string mode = "grad";
  bool strict = false;
};

// `relay grad FILE -f NAME`: prints the derivative of a function of the file, and runs nothing.
// Returns the exit code of the program.
int print_gradient(const GradRequest& request, const std::vector<std::string>& search_path,
                   const formats::FileAccess& files, Reporter& reporter);

}  // namespace relay::repl
