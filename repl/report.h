#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"

namespace relay::repl {

enum class ErrorFormat { Text, Json };

// One diagnostic as one JSON object, without line breaks (docs/tools.md describes it). Lines and
// columns count from 1, columns in code points; an end is the place behind the last character.
std::string render_json(const lang::Diagnostic& diagnostic);

// Where the program's diagnostics go: standard error, for people or for tools.
class Reporter {
 public:
  // `hints`: a person reads this, who is told once where to read more.
  Reporter(ErrorFormat format, bool color, bool hints)
      : format_(format), color_(color), hints_(hints) {}

  // To a person, of many only the first; how many there are stands at the end.
  void report(const std::vector<lang::Diagnostic>& diagnostics);
  // Was what was reported last an interrupt?
  bool was_interrupted() const { return was_interrupted_; }
  void forget_interruption() { was_interrupted_ = false; }
  // A mistake of ours. `has_replay`: at a prompt, whose `:bug` writes all that was entered.
  void internal_error(std::string_view what, bool has_replay = false);
  // Says, if hints are wanted and something was reported, how to have it explained. Once.
  void hint(std::string_view command);

 private:
  ErrorFormat format_;
  bool color_;
  bool hints_;
  std::optional<lang::DiagnosticKind> first_;  // what was reported first
  bool was_interrupted_ = false;
};

}  // namespace relay::repl
