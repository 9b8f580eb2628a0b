#pragma once

#include <atomic>
#include <functional>

#include "api/errors.h"

// What a process has one of, be there several engines: the stack that programs run on, the request
// to stop, counts that are not atomic. So calls take turns.
namespace relay::api {

// Who asks for a turn, and may be asked to give up.
struct Caller {
  int waiting = 0;              // calls that wait for their turn; guarded by the turn's mutex
  bool is_interrupted = false;  // one of them is to end
};

// Whoever holds one is the only thread that runs anything or touches a count.
class Turn {
 public:
  // Waits. There is none afterwards, and why() is an error, where the thread has one already (a
  // callback calls back), or was interrupted while it waited.
  explicit Turn(Caller* caller);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return is_held_; }
  relay_error* why() const { return why_; }

 private:
  bool is_held_ = false;
  relay_error* why_ = nullptr;
};

// Ends the call of that caller, as relay_interrupt() says; null: of whichever runs.
void interrupt(Caller& caller);
// Is a call running that could be interrupted? Safe in a signal handler, and so is what it does.
bool interrupt_any();

// Does `work` in a turn: now, if nobody has it, else at the end of that. Never waits.
void in_some_turn(std::function<void()> work) noexcept;
// For within a turn: does it once the turn is over, by the same thread.
void after_turn(std::function<void()> work);

}  // namespace relay::api
