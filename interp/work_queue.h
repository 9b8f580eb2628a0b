#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "lang/stop.h"

namespace relay::interp {

// Work on a thread of its own, one piece after the other, which cannot be told to stop, as LLVM
// cannot; who waits for it can. Used by one thread. The thread begins with the first work.
class WorkQueue {
 public:
  WorkQueue();
  // Waits for what goes on; what has not begun is not done.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Pieces of work are numbered from 1.
  using Ticket = std::uint64_t;
  // `work` throws nothing. Where there can be no more threads, it is done here and now.
  Ticket add(std::function<void()> work);
  // What it has written can be read then. Cost: one load.
  bool is_done(Ticket ticket) const;
  // `poll` is called every few milliseconds; when it throws, the work goes on.
  void wait(Ticket ticket, lang::Poll poll);
  // The last that was added.
  Ticket last() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Is there work in any queue of the process that has not been done?
bool is_working();

}  // namespace relay::interp
