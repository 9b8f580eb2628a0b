#pragma once

#include <memory>

#include "lang/stop.h"

namespace relay::repl {

// While it lives, what runs is asked to stop (lang/stop.h) once `seconds` have passed. None for 0.
// Of one inside another the earlier counts. Cost: a thread, if there is a limit; throws
// Failure(OutOfMemory) where the system has none to give.
class Deadline {
 public:
  explicit Deadline(double seconds, lang::Stop reason = lang::Stop::OutOfTime);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace relay::repl
