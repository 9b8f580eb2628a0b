#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

// Cases that may crash, hang or take all memory: they run in child processes, some hundred in each,
// so that what happens to one is found, and the others go on.
namespace relay::tests {

struct IsolatedCases {
  std::string name;       // of many of them: "mutated calls"
  std::string arguments;  // of this program, for the lines that run a case again
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  std::uint64_t batch = 250;                           // in one child
  std::function<void()> begin;                         // in each child, before its cases
  std::function<std::string(std::uint64_t)> describe;  // what the case of a seed is
  std::function<std::string(std::uint64_t)> check;     // what is wrong with it; empty: nothing
};

// Prints what is found, each with the line that runs it again, and at the end how many cases there
// were and what was tallied. A single case is printed in any event. Returns the exit code: 1 if
// something was found.
int run_isolated(const IsolatedCases& cases);

// Counts something that happened to a case, in a child.
void tally(std::string_view what);

// Ends the child: the case that it is at is found to have this wrong. Safe in a signal handler.
[[noreturn]] void give_up(const char* why);

// While it lives, what takes longer is asked to stop, again and again; the case is given up if it
// does not. One at a time, in a child.
class Patience {
 public:
  explicit Patience(unsigned seconds);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
};

}  // namespace relay::tests
