#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repl/session.h"

namespace relay::repl {

// All that was entered, in order, with what came of it, for a report of a mistake of ours. Of a
// long output its beginning is kept.
class Replay {
 public:
  void add_entry(std::string text);
  void add_output(std::string_view text);  // of the last entry
  // A text that `relay < FILE` runs as it was entered; outputs, the version, the options and what
  // the machine is are comments. Loads what runs programs, to name it. `how`: the command.
  std::string as_text(const SessionOptions& options, const std::string& file) const;

 private:
  struct Entry {
    std::string text;
    std::string output = {};
    bool is_cut = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace relay::repl
