#pragma once

#include <string>

#include "repl/session.h"

namespace relay::repl {

// `--stats`: what the two tiers did.
std::string describe_run(Session& session);
// The memory in use, and what was asked for so far: blocks for tensors and cells that had not been
// used before, and `operator new` while something was evaluated.
std::string describe_memory(Session& session);

}  // namespace relay::repl
