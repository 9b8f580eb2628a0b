#include <algorithm>

#include "interp/lanes_plan.h"

namespace relay::interp::lanes {

using loops::Code;
using loops::Instruction;
using loops::Region;

namespace {

// Trailing axes become lanes until they hold this many points.
constexpr std::int64_t kEnoughLanes = 64;

class LaneChooser {
 public:
  LaneChooser(const KernelFacts& facts, std::vector<Nest>& nests) : facts_(facts), nests_(nests) {}

  void choose() {
    for (std::size_t r = 0; r < facts_.kernel.regions.size(); ++r) {
      Nest& nest = nests_[r];
      if (r == 0) {
        for (std::int32_t axis = 0; axis < facts_.kernel.domain_rank; ++axis)
          nest.axes.push_back(axis);
      } else {
        nest.axes = facts_.kernel.regions[r].axes;
      }
      for (std::int32_t axis : nest.axes) nest.extents.push_back(facts_.extents[axis]);
      nest.first_lane = nest.axes.size();
    }
    Nest& body = nests_[0];
    const bool has_reductions = facts_.kernel.regions.size() > 1;
    if (!has_reductions || !is_better_across()) {
      if (facts_.kernel.domain_rank > 0) own_lanes(body);
      return;
    }
    for (const Instruction& instruction : facts_.kernel.regions[0].code) {
      if (instruction.code == Code::Reduce) own_lanes(nests_[instruction.region]);
    }
  }

 private:
  // By how much an address moves with `axis`; no value where that is not one number.
  bool stride_along(const loops::Address& address, std::int32_t axis, std::int64_t& stride) const {
    stride = 0;
    for (const auto& term : address.terms) {
      if ((facts_.depends[term.index] & bit(axis)) == 0) continue;
      if (facts_.definitions[term.index]->code != Code::Axis) return false;
      stride += facts_.value(term.stride);
    }
    return true;
  }

  // Estimated nanoseconds per element of running a region's instructions with lanes along `axis`.
  double lane_cost(const Region& region, std::int32_t axis) const {
    double cost = 0;
    for (const Instruction& instruction : region.code) {
      if (instruction.code == Code::Reduce) {
        const Region& inner = facts_.kernel.regions[instruction.region];
        cost += lane_cost(inner, axis) * static_cast<double>(facts_.count_of(inner));
      }
      if ((facts_.depends[instruction.id] & bit(axis)) == 0) continue;
      if (instruction.code == Code::Load) {
        std::int64_t stride = 0;
        if (!stride_along(instruction.address, axis, stride)) {
          cost += 2.0;
        } else if (stride != 1 && stride != 0) {
          cost += stride >= -16 && stride <= 16 ? 0.6 : 2.0;
        } else {
          cost += 0.1;
        }
      } else if (instruction.code == Code::Primitive) {
        cost += 0.15;
      }
    }
    return cost;
  }

  // Splits the axes of a nest: the trailing ones become lanes.
  void own_lanes(Nest& nest) const {
    nest.owns_lanes = true;
    nest.first_lane = nest.axes.size();
    nest.lane_points = 1;
    while (nest.first_lane > 0 && nest.lane_points < kEnoughLanes) {
      nest.lane_points *= nest.extents[--nest.first_lane];
    }
  }

  // Should each point of the domain be computed by itself, with the elements of its reductions as
  // lanes?
  bool is_better_across() const {
    if (facts_.kernel.domain_rank == 0) return true;
    Nest body = nests_[0];
    own_lanes(body);
    constexpr double kStepCost = 6;
    double points = 1;
    for (std::int64_t extent : body.extents) points *= static_cast<double>(extent);
    const double chunk = static_cast<double>(std::clamp<std::int64_t>(body.lane_points, 1, 128));
    double down = 0;
    double across = 0;
    for (const Instruction& instruction : facts_.kernel.regions[0].code) {
      if (instruction.code != Code::Reduce) {
        across += kStepCost;
        continue;
      }
      const Region& region = facts_.kernel.regions[instruction.region];
      if (region.axes.empty()) continue;
      const auto count = static_cast<double>(facts_.count_of(region));
      const auto steps = static_cast<double>(region.code.size() + 1);
      down += count *
              (lane_cost(region, facts_.kernel.domain_rank - 1) + 0.2 + steps * kStepCost / chunk);
      Nest nest = nests_[instruction.region];
      own_lanes(nest);
      const double inner = static_cast<double>(std::clamp<std::int64_t>(nest.lane_points, 1, 512));
      across +=
          count * (lane_cost(region, region.axes.back()) + 0.15 + steps * kStepCost / inner) + 60;
    }
    return across < down;
  }

  const KernelFacts& facts_;
  std::vector<Nest>& nests_;
};

}  // namespace

void choose_lanes(const KernelFacts& facts, std::vector<Nest>& nests) {
  nests.resize(facts.kernel.regions.size());
  LaneChooser(facts, nests).choose();
}

}  // namespace relay::interp::lanes
