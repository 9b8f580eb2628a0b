#pragma once

#include <string>

#include "tests/support/conformance_record.h"

namespace relay::tests {

// Is the pass of the record one that we have?
bool has_pass(const Record& record);

// What became of the record: the difference in one line, empty if there is none.
struct PassOutcome {
  std::string difference;
  bool is_comparable = true;  // false: what Relay made does not stand alone, or takes no tensors
};

// Runs our pass over the program, and both results on the same inputs.
PassOutcome run_pass(const Record& record);

}  // namespace relay::tests
