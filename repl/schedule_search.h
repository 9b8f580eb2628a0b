#pragma once

#include <random>
#include <vector>

#include "lang/schedule.h"

namespace relay::repl {

// Draws schedules of nests, all of which keep what the nests compute.
class ScheduleSearch {
 public:
  explicit ScheduleSearch(std::vector<lang::ScheduledNest> nests, std::uint64_t seed = 1)
      : nests_(std::move(nests)), random_(seed) {}

  // One as people write them: the last loops tiled inside the reduction, lanes, copies; what a nest
  // reads of another computed where it is read, or in its steps.
  lang::ScheduleSteps drawn();
  // Another that is like it. May be the same.
  lang::ScheduleSteps changed(const lang::ScheduleSteps& steps);

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  void draw(lang::ScheduledNest& nest);
  bool is_legal(const lang::ScheduleSteps& steps) const;

  std::vector<lang::ScheduledNest> nests_;
  std::mt19937_64 random_;
};

}  // namespace relay::repl
