#pragma once

#include <string>

namespace relay::repl {

// A line on the terminal, below what has been written, that says how far something is. What is
// written by put_output() and put_error() takes its place. From any thread.
void show_status(const std::string& text);
void clear_status();

// "3 s", "2 min", "1 h": of a time that is counted while somebody waits.
std::string waiting_time(double seconds);

}  // namespace relay::repl
