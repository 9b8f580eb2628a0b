#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "lang/module.h"

namespace relay::repl {

// Where evaluations stop: functions of the text, by name, or lines of them. A function that is
// defined again keeps its breakpoint.
class Breakpoints {
 public:
  explicit Breakpoints(const lang::Module& module) : module_(module) {}

  // `f`, `f:3`, `FILE:3`; what was set. Throws Failure.
  std::string set(const std::string& what);
  // Of a function, `f:3`, or all (empty). Throws Failure.
  void clear(const std::string& what);
  // A line for each.
  std::string describe() const;
  bool is_empty() const { return list_.empty(); }

  bool stops_at_entry(const std::string& function) const { return has(function, 0); }
  bool stops_at_line(const std::string& function, lang::Span place) const;
  // The functions with a breakpoint, and all that mention one of those, by way of others too. Cost:
  // of a look at every definition of the text.
  std::unordered_set<std::string> functions_on_the_way() const;

 private:
  struct Breakpoint {
    std::string function;
    std::uint32_t line;  // of its source; 0: where it is entered
  };
  Breakpoint read(const std::string& what) const;
  const lang::Definition* function_at(const std::string& file, std::uint32_t line) const;
  std::string describe(const Breakpoint& breakpoint) const;
  bool has(const std::string& function, std::uint32_t line) const;

  const lang::Module& module_;
  std::vector<Breakpoint> list_;
};

}  // namespace relay::repl
