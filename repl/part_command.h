#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "lang/diagnostic.h"
#include "repl/common_options.h"
#include "repl/session.h"

// Commands that write a file, where they are programs of their own (repl/parts.h): what they have
// in common.
namespace relay::repl {

class PartCommand {
 public:
  // `relay NAME`, and what it does, for `--help`.
  PartCommand(std::string_view name, std::string_view help);

  // Its own options and positionals are defined here.
  CLI::App& line() { return line_; }
  // An option that may be given as often as needed. `take` is told each value, and is false where
  // that is not `form`: "a name and extents, n=1,32".
  void add_repeated(const std::string& names, const std::string& help, const std::string& form,
                    std::function<bool(const std::string&)> take);
  // It runs a program: what that may open and take is asked for on the line, too.
  void define_run_options();

  // Reads the line, as main() has it. The exit code where there is nothing more to do: help was
  // asked for, or the line is wrong, and standard error says how.
  std::optional<int> read(int count, char** texts);
  // The same of a line that would do harm: `why`, unless that is empty.
  std::optional<int> refused(const std::string& why) const;
  // Options of a session that runs the program.
  SessionOptions session_options();

  // Does the work, whose mistakes, and ours, go to standard error. The exit code. `work` is false
  // when it has failed, and said so: the places of what it says are there until then.
  using Complain = std::function<void(const std::vector<lang::Diagnostic>&)>;
  int carried_out(const std::function<bool(const Complain&)>& work);

 private:
  int misuse(std::string_view what) const;

  std::string name_;
  CLI::App line_;
  ReportOptions report_;
  LimitOptions limits_;
  FileOptions files_;
};

// `FILE would be written over`, where both are one file; else empty.
std::string written_over(const std::string& written, const std::string& read);

}  // namespace relay::repl
