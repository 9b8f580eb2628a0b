#pragma once

#include <cstddef>
#include <string_view>

// The streams that the program writes to, and what may be written there.
namespace relay::repl {

// For the beginning of the program: where it was started without one of the three streams, that
// descriptor must not become a file that the program opens, and output go there. What such a stream
// is asked for fails as if it were closed. A file that grows too large is an error and no signal.
void prepare_streams();

// A terminal on which the cursor can be moved: not `TERM=dumb`.
bool has_cursor(int descriptor);

struct TerminalSize {
  std::size_t columns = 100;
  std::size_t rows = 24;
};
// Of the terminal that standard output is; `unknown` where that does not know.
TerminalSize window_size(TerminalSize unknown);
// The same for values and pages: one that does not know is 100 by 24, and none has less than 20
// columns.
TerminalSize terminal_size();

// `setting` is that of `--color`; `auto` is a terminal of colours, unless the environment variable
// NO_COLOR is set and not empty.
bool wants_color(std::string_view setting, int descriptor);

// Writes text to standard output. Where that fails, the program ends as finish_output() says:
// whoever computes for nobody should stop.
void put_output(std::string_view text);
// Hands on what has been written so far; fails as put_output() does.
void flush_output();
// put_output() for a program that runs: whoever watches a long run sees its lines as they are
// printed, and a run that is killed has shown them. After a thousand texts in one second the others
// of that second wait for what is written or flushed later, as each flush is a call of the system.
void put_live_output(std::string_view text);

// Writes text to standard error. Where nobody takes it there is nobody to tell.
void put_error(std::string_view text);

// Writes what is left of standard output and returns the exit code of the program: `status`, or
// kProgramError if that fails, having said why. Where nobody reads any more (EPIPE, as SIGPIPE is
// ignored) it is that of a program ended by SIGPIPE, and nothing is said.
int finish_output(int status);

}  // namespace relay::repl
