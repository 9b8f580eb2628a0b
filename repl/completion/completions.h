#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace relay::repl {

// What may stand at a place of a text in place of what is there.
struct Candidate {
  std::string text;    // UTF-8, as it would be written
  std::string detail;  // its type, or one line that says what it is; may be empty
};

// `candidates` replace the bytes [begin, end) of the text; those that fit best come first.
struct Completions {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Candidate> candidates;
};

}  // namespace relay::repl
