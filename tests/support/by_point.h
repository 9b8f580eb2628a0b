#pragma once

#include <string>

#include "repl/session.h"

// Programs with index notation whose bodies stand in `same(...)` (a scalar) or `same_row(...)` (a
// tensor of rank 1): evaluated by kernels, or point by point.
namespace relay::tests {

struct Outcome {
  std::string text;  // the value or the error
  bool is_value = false;
};

// Of `f(x, m, d)`, which the program defines.
Outcome outcome_by_kernel(repl::Session& session, const std::string& program);
Outcome outcome_by_point(repl::Session& session, const std::string& program);

// With all passes verified, and the order of sums that is ours.
repl::SessionOptions verified(interp::JitMode jit);

}  // namespace relay::tests
