#include <algorithm>
#include <unordered_map>

#include "interp/lanes_plan.h"

namespace relay::interp::lanes {

using loops::Instruction;

namespace {

constexpr std::int64_t kLongestChunk = 8192;
constexpr std::int64_t kAlign = 64;
// What is live should stay in the first-level cache.
constexpr std::int64_t kLiveBytes = 24 * 1024;

std::int64_t round_up(std::int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class StorageAssigner {
 public:
  StorageAssigner(const KernelFacts& facts, Plan& plan) : facts_(facts), plan_(plan) {}

  void assign() {
    std::vector<std::int64_t> bytes_per_lane(plan_.nests.size(), 0);
    for (std::size_t r = 0; r < plan_.nests.size(); ++r) {
      const auto owner = static_cast<std::size_t>(owner_of(static_cast<std::int32_t>(r)));
      for (const auto& level : plan_.nests[r].levels) {
        for (const Step& step : level) {
          if (!step.varying) continue;
          if (needs_storage(step)) bytes_per_lane[owner] += step.element_size;
          if (!step.place.lane_terms.empty()) bytes_per_lane[owner] += 8;
          if (step.masks.varying.size() > 1) bytes_per_lane[owner] += 1;
        }
      }
      const FoldPlan& fold = plan_.nests[r].fold;
      if (fold.varying)
        bytes_per_lane[owner] += fold.rows * (fold.element_size + (fold.is_arg ? 8 : 0));
    }
    for (const auto& table : plan_.tables)
      bytes_per_lane[static_cast<std::size_t>(table.nest)] += 8;
    for (std::size_t r = 0; r < plan_.nests.size(); ++r) {
      if (plan_.nests[r].owns_lanes)
        choose_chunk(plan_.nests[r], bytes_per_lane, static_cast<std::int64_t>(r));
    }
    for (auto& table : plan_.tables) table.storage = take(8 * plan_.nests[table.nest].chunk);
    for (auto& constant : plan_.constants) constant.storage = take(8);
    for (std::size_t r = 0; r < plan_.nests.size(); ++r)
      assign_region(static_cast<std::int32_t>(r));
    const std::int64_t chunk = plan_.nests[0].chunk;
    for (Store& store : plan_.stores) {
      if (!store.destination.lane_terms.empty()) store.destination.scratch = take(8 * chunk);
    }
  }

 private:
  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = plan_.arena_bytes;
    plan_.arena_bytes += round_up(bytes);
    return at;
  }

  static bool needs_storage(const Step& step) {
    if (step.to_output) return false;
    if (step.action == Action::Primitive || step.action == Action::Range) return true;
    if (step.action != Action::Load) return false;
    if (!step.masks.is_empty()) return true;
    return step.place.mode == Place::Mode::Offsets ||
           (step.place.mode == Place::Mode::Linear && step.place.lane_stride != 1);
  }

  // The chunk of each nest that owns lanes.
  void choose_chunk(Nest& owner, const std::vector<std::int64_t>& bytes_per_lane,
                    std::int64_t nest) {
    const std::int64_t bytes = bytes_per_lane[static_cast<std::size_t>(nest)];
    std::int64_t chunk = bytes == 0 ? kLongestChunk : kLiveBytes / bytes / 64 * 64;
    chunk = std::clamp<std::int64_t>(chunk, 64, kLongestChunk);
    // Chunks of about the same length: a short one at the end costs as many steps as a long one.
    const std::int64_t points = std::max<std::int64_t>(owner.lane_points, 1);
    const std::int64_t longest = chunk + chunk / 4;
    const std::int64_t chunks = (points + longest - 1) / longest;
    const std::int64_t even = (points + chunks - 1) / chunks;
    owner.chunk = std::min((even + 15) / 16 * 16, points);
  }

  // The nest whose lanes run the steps of `region`: itself or the one around it.
  std::int32_t owner_of(std::int32_t region) const {
    if (plan_.nests[region].owns_lanes) return region;
    if (plan_.nests[0].owns_lanes) return 0;
    // A reduction inside a reduction that owns lanes.
    const Instruction* reduce = facts_.reduce_of(region);
    return region == 0 || !reduce ? 0 : owner_of(facts_.region_of[reduce->id]);
  }

  void assign_region(std::int32_t region) {
    Nest& nest = plan_.nests[region];
    const std::int64_t chunk = plan_.nests[owner_of(region)].chunk;
    for (auto& level : nest.levels) assign_level(level, chunk);
    FoldPlan& fold = nest.fold;
    if (region == 0 || fold.element_size == 0) return;
    const std::int64_t lanes = fold.varying ? chunk : 1;
    // Partial results of one lane lie side by side, so that a nest's own lanes fold into them as
    // one array.
    fold.row_bytes = fold.varying ? round_up(lanes * fold.element_size) : fold.element_size;
    fold.partials = take(fold.rows * fold.row_bytes);
    if (fold.levels > 0) fold.waiting = take(fold.levels * fold.row_bytes);
    if (fold.is_arg) {
      fold.index_row_bytes = fold.varying ? round_up(lanes * 8) : 8;
      fold.indices = take(fold.rows * fold.index_row_bytes);
    }
    if (nest.owns_lanes && !plan_.varying[nest.result])
      fold.splat = take(nest.chunk * fold.element_size);
  }

  // Arrays are reused once nobody reads them any more, which is known of values that only their own
  // level reads.
  void assign_level(std::vector<Step>& level, std::int64_t chunk) {
    std::vector<std::int64_t> free_blocks;
    for (Step& step : level) {
      if (needs_storage(step) && step.varying) kept_.insert_or_assign(step.out, Kept{&step});
    }
    for (const Step& step : level) {
      for_each_read(step, [&](Kept& kept) { ++kept.reads; });
      if (step.action != Action::Check) continue;
      // The value of a check is its operand's array.
      if (const auto found = kept_.find(step.args[0]); found != kept_.end())
        found->second.is_checked = true;
    }
    for (Step& step : level) {
      if (!step.place.lane_terms.empty()) step.place.scratch = take(8 * chunk);
      if (step.masks.varying.size() > 1) step.masks.scratch = take(chunk);
      if (needs_storage(step)) {
        if (!step.varying) {
          step.storage = take(8);
        } else if (!free_blocks.empty()) {
          step.storage = free_blocks.back();
          free_blocks.pop_back();
        } else {
          step.storage = take(8 * chunk);
        }
      }
      for_each_read(step, [&](Kept& kept) {
        if (++kept.reads_done < kept.reads) return;
        if (facts_.uses[kept.step->out] == kept.reads && !kept.is_checked)
          free_blocks.push_back(kept.step->storage);
      });
    }
    kept_.clear();
  }

  // An array, of a step of the level.
  struct Kept {
    const Step* step;
    std::int32_t reads = 0;  // in the level
    std::int32_t reads_done = 0;
    bool is_checked = false;
  };

  template <class F>
  void for_each_read(const Step& step, F f) {
    const auto read = [&](ValueId id) {
      if (const auto found = kept_.find(id); found != kept_.end()) f(found->second);
    };
    const Instruction& instruction = *facts_.definitions[step.out];
    for (ValueId arg : instruction.args) read(arg);
    for (const auto& term : instruction.address.terms) read(term.index);
  }

  const KernelFacts& facts_;
  Plan& plan_;
  std::unordered_map<ValueId, Kept> kept_;  // of the level in hand
};

}  // namespace

void assign_storage(const KernelFacts& facts, Plan& plan) { StorageAssigner(facts, plan).assign(); }

}  // namespace relay::interp::lanes
