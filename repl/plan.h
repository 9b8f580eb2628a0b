#pragma once

#include <string>

#include "interp/plan.h"

namespace relay::repl {

// A row for each part, with the share of the time that this machine needs for its operations and
// bytes at least, on so many threads; measured at the first call, which takes a fifth of a second.
std::string describe_plan(const interp::Plan& plan, int threads);

}  // namespace relay::repl
