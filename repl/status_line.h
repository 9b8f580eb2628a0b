#pragma once

#include <string>

namespace relay::repl {

// A line on the terminal, below what has been written, that says how far something is. From any
// thread.
void show_status(const std::string& text);
void clear_status();

// While one lives there is no such line, and none comes: something is written in its place.
class StatusHidden {
 public:
  StatusHidden();
  ~StatusHidden();
  StatusHidden(const StatusHidden&) = delete;
  StatusHidden& operator=(const StatusHidden&) = delete;
};

// "3 s", "2 min", "1 h": of a time that is counted while somebody waits.
std::string waiting_time(double seconds);

}  // namespace relay::repl
