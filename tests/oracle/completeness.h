#pragma once

#include <string>
#include <vector>

namespace relay::tests {

// What is there of Relay's operators.
struct Completeness {
  std::vector<std::string> working;  // a record that can be evaluated, with a row in the table
  std::vector<std::string> excused;  // named in the section "Operators" of the ledger
  std::vector<std::string> without_record;
  std::vector<std::string> without_row;
  // Steps that others of ours are made of; those have rows.
  std::vector<std::string> ours_without_row;
  std::vector<std::string> without_gradient_row;  // have a derivative, and no row that takes it
  std::vector<std::string> wrongly_excused;       // excused, and yet with rows
};

// `names`: a file with an operator of Relay's on each line, up to a tab; `ledger`: docs/limits.md,
// whose section
// `## Operators` names operators in backticks, `*` standing for any end; `cases`: the folder of the
// table.
Completeness completeness(const std::string& names, const std::string& ledger,
                          const std::string& cases);

}  // namespace relay::tests
