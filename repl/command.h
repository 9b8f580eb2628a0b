#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repl/session.h"

namespace relay::repl {

struct CommandOutcome {
  std::string text;
  std::vector<lang::Diagnostic> errors;
  bool quit = false;
  std::string file = {};  // not empty: is to be run, and its values shown, by whoever shows values
};

// One `:command` of the prompt. Names may be abbreviated as long as they are unambiguous.
struct Command {
  std::string_view name;   // ":type"
  std::string_view usage;  // "EXPR"
  std::string_view summary;
  CommandOutcome (*run)(Session& session, std::string_view argument);
};
const std::vector<Command>& commands();

CommandOutcome run_command(Session& session, std::string_view line);

// `--stats`: what the two tiers did.
std::string describe_run(Session& session);
// The memory in use, and what was asked for so far: blocks for tensors and cells that had not been
// used before, and `operator new` while something was evaluated.
std::string describe_memory(Session& session);

}  // namespace relay::repl
