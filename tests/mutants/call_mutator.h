#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/oracle/case_table.h"
#include "tests/support/random.h"

namespace relay::tests {

// A row of the table of cases with something about it changed, and how its parameters are written.
struct MutatedCall {
  CaseRow row;
  CaseDims dims = CaseDims::Constant;
  bool is_strided = false;  // the arguments lie spread out in memory
};

// Makes calls that operators must answer with a value or a diagnostic: other extents, ranks and
// dtypes, other elements (indices far out of range among them), attributes that are huge, negative,
// lists of another length, another word, or left out.
class CallMutator {
 public:
  explicit CallMutator(std::vector<CaseRow> rows);
  // Always the same for the same choices.
  MutatedCall make(Random& random) const;

 private:
  void mutate_input(CaseInput& input, Random& random) const;
  void mutate_leaf(CaseInput& input, Random& random) const;
  std::string mutated_attrs(const CaseRow& row, Random& random) const;
  std::string mutated_value(const std::string& key, const std::string& value, Random& random) const;

  std::vector<CaseRow> rows_;
  std::map<std::string, std::vector<std::size_t>> rows_of_;  // by operator
  // What the rows give to attributes of a name.
  std::map<std::string, std::vector<std::string>> values_of_;
};

// `key=value` pairs of a row's attributes, split where no bracket or quote is open.
std::vector<std::pair<std::string, std::string>> split_attrs(const std::string& attrs);
// The inputs as the table writes them, shortened where they are long.
std::string inputs_text(const CaseRow& row);

}  // namespace relay::tests
