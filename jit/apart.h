#pragma once

#include <functional>
#include <memory>

#include "lang/stop.h"

namespace relay::jit {

// Work on a thread of its own, on which somebody waits who can be told to stop: LLVM cannot. One
// piece of work at a time.
class Apart {
 public:
  Apart();
  // Waits for what goes on.
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  // Nothing else may be going on. Where there can be no more threads, the caller does it. `work`
  // throws nothing.
  void start(std::function<void()> work);
  // Until nothing goes on. `poll` is called every few milliseconds; when it throws, the work goes
  // on, and can be waited for again.
  void wait(lang::Poll poll);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace relay::jit
