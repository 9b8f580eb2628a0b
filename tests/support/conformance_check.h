#pragma once

#include <string>
#include <vector>

#include "tests/support/conformance_record.h"

namespace relay::tests {

// How we do on one record, compared with the implementation it was captured from.
struct Agreement {
  bool agrees = true;
  std::string difference;         // one line, when it does not agree
  bool reads_back = true;         // print -> parse -> print is the identity; true when rejected
  std::string read_back_trouble;  // one line
  bool is_comparable = true;      // of a `pass` record (conformance_pass.h)
};

// Records that can be checked: of most kinds all, of passes those that we have.
bool is_checked(const Record& record);

// Reads the program, checks its types (not those of a lone expression, as in Relay) and compares:
// the verdict; of a `parse` record of an expression the program; of an `infer` record every
// function's type, up to renaming of variables; of an `eval` record the value (conformance_eval.h).
Agreement check_record(const Record& record);

}  // namespace relay::tests
