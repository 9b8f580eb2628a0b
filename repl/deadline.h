#pragma once

#include <memory>

namespace relay::repl {

// While it lives, what runs is asked to stop (Stop::OutOfTime, lang/stop.h) once `seconds` have
// passed. None for 0. Of one inside another the earlier counts. Cost: a thread, if there is a
// limit; throws Failure(OutOfMemory) where the system has none to give.
class Deadline {
 public:
  explicit Deadline(double seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace relay::repl
