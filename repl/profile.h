#pragma once

#include <string>

#include "interp/profile.h"

namespace relay::repl {

// `--profile`, `:profile`: the lines that took most of the time, the slowest first.
std::string describe_profile(interp::Profile& profile);

}  // namespace relay::repl
