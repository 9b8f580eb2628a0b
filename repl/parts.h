#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relay::repl {

// A part is a command of `relay` that is a program of its own, with the libraries that only it
// needs: who does not use it pays nothing for it, and a build without those libraries does without
// the part.
struct Part {
  std::string_view command;  // `relay lsp`
  std::string_view program;  // beside `relay`, or installed where its shared objects are
  std::string_view help;     // what it does, a line
  std::string_view
      needs;  // Debian's packages, of which CMake looks for the libraries; may be empty
};

std::span<const Part> parts();

// The part that is asked for by the first argument; null for what is none.
const Part* find_part(std::string_view command);

// Goes on as the part's program: its command, and the arguments behind it, as main() has them.
// Returns only where it is not there, or cannot be run: the exit code, and standard error says why.
int become_part(const Part& part, char** arguments);
int become_part(const Part& part, const std::vector<std::string>& arguments);

}  // namespace relay::repl
