#pragma once

#include <string>
#include <string_view>

namespace relay::repl {

// Asks the terminal that standard input and output are: writes the question and waits for an answer
// that begins with `begin` and ends with `end`, for a fifth of a second at most. Returns what is
// between, or nothing. Other bytes that come, which somebody types, are added to `others`. While
// bytes wait already it is not asked.
struct TerminalAnswer {
  bool was_asked = false;
  std::string answer = {};
};
TerminalAnswer ask_terminal(std::string_view question, std::string_view begin, char end,
                            std::string& others);

}  // namespace relay::repl
