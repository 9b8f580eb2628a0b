#pragma once

#include <string_view>

#include "loops/lower.h"

namespace relay::loops {

// How groups run of which nobody says how: one schedule for each kind of definition, found by what
// its nests do and never by an operator's name. Whatever follows a reduction element by element is
// inlined behind it, or goes with it row by row, so a tail that somebody wrote needs no schedule.
struct GenericSchedule {
  std::string_view name;
  std::string_view what;
};
inline constexpr std::string_view kOwnSchedule = "own";

// The schedule that serves a group; kOwnSchedule where a function's schedule is applied in it. Null
// where nothing runs. Lives forever.
const GenericSchedule* schedule_of(const LoweredGroup& group);

}  // namespace relay::loops
