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

  // A text that runs as a file: of definitions that were made several times the last one, with a
  // comment above what was entered while such a name meant something else; and what does not
  // type-check there as a comment, with the reason. Bindings that others, or the next of that name,
  // were made of are kept. Cost: of checking it as often as there are entries that do not check.
  // `module`: as the session has it.
  std::string as_file(const SessionOptions& options, const lang::Module& module) const;

 private:
  struct Entry {
    std::string text;
    std::vector<std::string> names;  // that it defines
    std::vector<std::string> lets;   // those of them that are bindings
    int number = 0;                  // of its last result; 0: it has none
  };
  // The first entry from `first` on that defines the name; their number if none does.
  std::size_t next_of(const std::string& name, std::size_t first) const;
  std::vector<std::string> dependents_of(const std::string& name) const;
  bool is_superseded(std::size_t entry) const;
  std::string as_let(std::size_t entry) const;
  // The names in the entry that mean something else in the file.
  std::vector<std::string> changed_names(std::size_t entry, const lang::Module& module) const;
  std::vector<Entry> entries_;
};

}  // namespace relay::repl
