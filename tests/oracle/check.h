#pragma once

#include <set>
#include <string>
#include <vector>

#include "repl/session.h"
#include "tests/oracle/case_table.h"
#include "tests/oracle/recorded.h"

namespace relay::tests {

// Runs the rows of the table and says what is wrong with them.
class CaseChecker {
 public:
  CaseChecker();
  // Everything that is wrong with a row; empty for a good one.
  std::vector<std::string> check(const CaseRow& row, const Recorded& recorded);
  // How many kernels have run as native code so far.
  std::int64_t native_kernels();
  // How often a row was tried with extents that are no constants, and how often it could not be
  // typed so, as a value and in a derivative.
  struct Extents {
    int tried = 0;
    int skipped = 0;
  };
  const Extents& extents() const { return extents_; }
  // The code of kernels that should have, and did not.
  std::set<std::string> on_lanes();

 private:
  enum class Arguments { RowMajor, Strided };
  static lang::Result<lang::Value> run(repl::Session& session, const CaseRow& row,
                                       const CaseDims& dims,
                                       Arguments arguments = Arguments::RowMajor);
  repl::Session lanes_;   // the JIT off
  repl::Session native_;  // the JIT always on
  repl::Session plain_;   // no library kernels
  Extents extents_;
};

// Is the row to be checked against differences: float64 in, a float out, an operator with a
// derivative?
bool has_gradient(const CaseRow& row, const lang::Value& result);
// The row's gradient against central differences, with constant dims, symbolic ones and `?`, all at
// once and one at a time, and a second derivative along one direction. Empty where they agree.
std::string gradient_trouble(repl::Session& session, const CaseRow& row, const lang::Value& result,
                             CaseChecker::Extents& extents);

// Can this function be typed? With dimension variables not every operator gives one: an
// extent that has to be a number may be written as a variable, but is none.
bool can_be_typed(repl::Session& session, const std::string& text);

// The diagnostics in full.
std::string describe(const std::vector<lang::Diagnostic>& errors);

}  // namespace relay::tests
