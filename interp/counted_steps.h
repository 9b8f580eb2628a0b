#pragma once

#include <cstdint>

#include "interp/eval.h"
#include "interp/machine.h"

namespace relay::interp {

// While it lives, a loop of so many steps runs; the host is told how far it is, unless it runs
// within another.
class CountedSteps {
 public:
  CountedSteps(Machine& machine, std::int64_t total)
      : machine_(machine), total_(total), is_told_(machine.counted_loops++ == 0 && total > 1) {}
  ~CountedSteps() {
    --machine_.counted_loops;
    if (is_told_) machine_.host.at_step(total_, total_);
  }
  CountedSteps(const CountedSteps&) = delete;
  CountedSteps& operator=(const CountedSteps&) = delete;
  void at(std::int64_t done) const {
    if (is_told_) machine_.host.at_step(done, total_);
  }

 private:
  Machine& machine_;
  const std::int64_t total_;
  const bool is_told_;
};

}  // namespace relay::interp
