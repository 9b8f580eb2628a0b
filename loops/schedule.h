#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/schedule.h"
#include "loops/lower.h"
#include "loops/stages.h"

// Schedules (lang/schedule.h) as changes of loop nests. Both back ends run what comes of it: the
// loops are axes of the kernel's domain, split, fused and in the order that the schedule says, with
// a tile (Kernel::tile_rank) that the compiler keeps in registers.
namespace relay::loops {

// Which tensors of a group the schedule of its function is about, and the nests as it makes them.
// Throws Failure where the schedule is not one of these nests.
class GroupSchedule {
 public:
  // Nothing where the function has no schedule.
  static std::optional<GroupSchedule> of(const lang::Function& group, const Stages& stages);
  // Null: none.
  const lang::ScheduledNest* nest_of(TensorId tensor) const;
  const std::map<TensorId, lang::ScheduledNest>& nests() const { return nests_; }
  // The leaf argument of that name.
  std::optional<std::int32_t> argument(const std::string& name) const;

 private:
  std::map<TensorId, lang::ScheduledNest> nests_;
  std::map<std::string, std::int32_t> arguments_;  // tensors by name
};

// A nest with the names of its kernel's axes, as loops/finish.h gives it.
struct NamedLaunch {
  Launch launch;
  std::vector<std::string> axes;
};
// Gives the group's buffer for a temporary of that type and shape.
using MakeBuffer = std::function<std::int32_t(DType, const std::vector<std::int64_t>&)>;
using ArgumentOf = std::function<std::optional<std::int32_t>(const std::string&)>;

// What runs instead of a nest, in order.
struct ScheduledLaunch {
  enum class Kind : std::uint8_t {
    Copy,  // of what is cached
    Main,  // the points that the sizes of the schedule divide; axis 0 is the outermost loop
    Rest,  // some that they leave; axis 0 is that of the tensor
  };
  Launch launch;
  Kind kind = Kind::Main;
  std::int64_t step = 1;  // Rest: points of axis 0 that are one step of its outer loop
};

// Copies of what is cached; the part of the points that the sizes of the schedule divide, as it
// says; and what is left at the ends, as it would run without. Throws Failure (Unsupported) where a
// step cannot be done to this nest.
std::vector<ScheduledLaunch> schedule_nest(const lang::ScheduledNest& schedule, NamedLaunch nest,
                                           const ArgumentOf& argument,
                                           const MakeBuffer& make_buffer);

// The Failure of a step that cannot be done to this nest: not supported: `what`.
[[noreturn]] void refuse(std::string_view what, const lang::ScheduledNest& schedule);
// Refuses a nest that can fail: which error comes first, or whether one comes at all, would depend
// on what a schedule says.
void check_order(const Launch& nest, const lang::ScheduledNest& schedule);

}  // namespace relay::loops
