#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "repl/session.h"

namespace relay::repl {

// The entries that have worked, for `:save`.
class Inputs {
 public:
  // `results`: what came of the entry's items.
  void add(std::string text, const std::vector<ItemResult>& results);

  // A text that runs as a file: of definitions that were made several times the last one, and what
  // does not type-check there as a comment, with the reason. Cost: of checking it as often as there
  // are such entries.
  std::string as_file(const SessionOptions& options) const;

 private:
  struct Entry {
    std::string text;
    std::vector<std::string> names;  // that it defines
    int number = 0;                  // of its last result; 0: it has none
  };
  bool is_superseded(std::size_t entry) const;
  std::vector<Entry> entries_;
};

}  // namespace relay::repl
