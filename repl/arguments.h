#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repl/common_options.h"
#include "repl/grad_file.h"
#include "repl/opt_file.h"
#include "repl/parts.h"
#include "repl/tools.h"
#include "repl/tune.h"

namespace relay::repl {

enum class Task {
  Prompt,
  Run,
  Evaluate,
  Explain,
  Version,
  Check,
  Format,
  Grad,
  Opt,
  BuildExternal,
  Tune
};

// What the command line asks for.
struct Arguments : ReportOptions, LimitOptions, FileOptions {
  Task task = Task::Prompt;
  std::string file, expression, kind;
  std::string jit = "auto", kernels = "auto";
  bool stats = false, profile = false, perf = false, strict = false;
  int threads = 0;
  std::vector<std::string> plugins;  // external compilers
  bool stays = false;                // a prompt follows the file
  bool no_init = false;              // the startup file is not run
  const Part* part = nullptr;        // it is to be become; `rest` is its line
  std::vector<std::string> rest;     // arguments of the program
  std::vector<std::string> check;
  FormatRequest format;
  GradRequest grad;
  OptRequest opt;
  TuneFile tune;
};

// Reads the command line into `into`. An exit code if there is nothing more to do: help was asked
// for and has been printed, or the line is wrong and standard error says how. Nothing has been
// read or run then.
std::optional<int> parse_arguments(int argc, char** argv, Arguments& into);

}  // namespace relay::repl
