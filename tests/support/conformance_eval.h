#pragma once

#include <string>

#include "tests/support/conformance_record.h"

namespace relay::tests {

// Runs the program of an `eval` record on its inputs and compares what comes out with what the
// other implementation computed: floats within the tolerances of the collection's README,
// everything else exactly; function values are not compared. Empty when they agree, else one line
// that says how they differ.
std::string evaluate_record(const Record& record);

}  // namespace relay::tests
