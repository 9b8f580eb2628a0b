#pragma once

namespace relay::notebook {

// What the kernel works on: a cell, a question of an editor. An interrupt is for the one that is
// under way, and for nothing where there is none: it must not meet the next cell.
class Request {
 public:
  Request();
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Asks the one under way to stop. From any thread.
  static void interrupt();
};

}  // namespace relay::notebook
