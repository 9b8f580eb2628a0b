#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::repl {

// Runs a command of the shell on the terminal as it was before the prompt, and waits for its end;
// keys such as Ctrl-C are its own meanwhile. `input` is its standard input, which is the terminal
// where that is null. True if it ended well.
bool run_on_terminal(const std::string& command, const std::string* input = nullptr);

// Runs a program, looked for as a shell does, on a text as its standard input, and returns what it
// writes to standard output; nothing if there is no such program or it does not end well. A request
// to stop (lang/stop.h) ends it, too, and is thrown.
struct ChildOutput {
  bool is_found = false;
  bool ended_well = false;
  std::string text = {};
};
ChildOutput output_of(const std::vector<std::string>& command, std::string_view input);

// `'it'\''s'`: one word of the shell.
std::string shell_word(std::string_view text);

}  // namespace relay::repl
