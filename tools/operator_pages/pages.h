#pragma once

#include <map>
#include <string>

namespace relay::tools {

// Where the pages come from besides the records of operators.
struct PageSources {
  std::string facts;  // Relay's operators: name, category and fusion pattern, separated by tabs
  std::string cases;  // the folder of the table of cases; its shapes show a definition's pattern
};

// The pages on operators by file name: README.md, and one for each category. Runs the examples.
// Throws std::runtime_error where a source cannot be read.
std::map<std::string, std::string> operator_pages(const PageSources& sources);

}  // namespace relay::tools
