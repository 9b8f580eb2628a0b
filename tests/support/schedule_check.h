#pragma once

#include <cstdint>
#include <string>

#include "repl/session.h"

namespace relay::tests {

// A schedule changes no bit: what a call gives with one is what it gives without, on lanes and in
// native code.
class ScheduleCheck {
 public:
  // `test`: the name of the test case, to run it again. `tolerance`: how far values may be apart,
  // where what is compared is rounded in another way, as derivatives are.
  explicit ScheduleCheck(std::string test, double tolerance = 0);

  // `program` defines `f` and all else that `call` mentions. False where the schedule is refused as
  // not supported; fails the test where something else goes wrong.
  bool run(std::uint64_t seed, const std::string& program, const std::string& schedule,
           const std::string& call);

 private:
  std::string test_;
  double tolerance_;
  repl::Session plain_;
  repl::Session lanes_;
  repl::Session native_;
};

}  // namespace relay::tests
