#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/file_access.h"
#include "repl/grad_file.h"
#include "repl/opt_file.h"
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
struct Arguments {
  Task task = Task::Prompt;
  std::string file, expression, kind;
  std::string jit = "auto", kernels = "auto", error_format = "text", color = "auto";
  bool stats = false, profile = false, perf = false, strict = false;
  int threads = 0;
  std::optional<std::size_t> memory;  // bytes
  double seconds = 0;                 // 0: any
  std::vector<std::string> search_path;
  std::vector<std::string> plugins;  // external compilers
  bool stays = false;                // a prompt follows the file
  bool no_init = false;              // the startup file is not run
  bool no_files = false;             // the sandbox
  std::string root;                  // likewise: the only folder whose files are opened; empty: all
  std::vector<std::string> rest;     // arguments of the program
  std::vector<std::string> check;
  FormatRequest format;
  GradRequest grad;
  OptRequest opt;
  TuneFile tune;

  // The files that the program may open.
  formats::FileAccess access() const;
  // May the program open some files only, or none?
  bool is_confined() const { return no_files || !root.empty(); }
};

// Reads the command line into `into`. An exit code if there is nothing more to do: help was asked
// for and has been printed, or the line is wrong and standard error says how. Nothing has been
// read or run then.
std::optional<int> parse_arguments(int argc, char** argv, Arguments& into);

}  // namespace relay::repl
