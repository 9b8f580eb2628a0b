#pragma once

#include <string>
#include <string_view>

namespace relay::repl {

// Runs a command of the shell on the terminal as it was before the prompt, and waits for its end;
// keys such as Ctrl-C are its own meanwhile. `input` is its standard input, which is the terminal
// where that is null. True if it ended well.
bool run_on_terminal(const std::string& command, const std::string* input = nullptr);

// `'it'\''s'`: one word of the shell.
std::string shell_word(std::string_view text);

}  // namespace relay::repl
