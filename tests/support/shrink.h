#pragma once

#include <functional>

#include "tests/support/random_program.h"

namespace relay::tests {

// The smallest program found that still fails, starting from one that does. Cuts the choices that
// made it, so that each attempt is a well-typed program. `attempts` bounds the cost.
RandomProgram shrunk(const RandomProgram& program, const ProgramOptions& options,
                     const std::function<bool(const RandomProgram&)>& fails,
                     std::size_t attempts = 1500);

}  // namespace relay::tests
