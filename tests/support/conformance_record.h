#pragma once

#include <set>
#include <string>
#include <vector>

// Records captured from another implementation of Relay: one JSON object per line.
namespace relay::tests {

struct Record {
  std::string id;
  std::string kind;         // "parse", "infer", "mutant", "eval", "pass"
  std::string source;       // the program
  std::string init_module;  // read before it, may be empty
  bool is_expression = false;
  bool has_verdict = true;  // false: the other implementation crashed
  bool accepted = false;
  std::string result;           // what the other implementation printed, when it accepted
  std::string error;            // and what it said, when it did not
  std::string pass = {};        // of a `pass` record
  std::string evaluation = {};  // of an `eval` record, as JSON: entry, inputs and output
};

// The records of a file. Throws std::runtime_error, with the line, for what is no record.
std::vector<Record> read_records(const std::string& path);

// Operators that accepted programs of `records` call and that the registry does not have. This is
// lexical, so that no mistake of our parser hides a program.
std::set<std::string> missing_operators(const std::vector<Record>& records);
// One of `names` that the program calls; empty if it calls none.
std::string mentioned(const Record& record, const std::set<std::string>& names);

}  // namespace relay::tests
