#include "interp/lanes_plan.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "loops/reduce_op.h"

namespace relay::interp::lanes {

using lang::DType;
using lang::Prim;
using loops::Code;
using loops::Instruction;
using loops::Kernel;
using loops::kReductionLanes;
using loops::Region;

namespace {

using AxisSet = std::uint64_t;
AxisSet bit(std::int32_t axis) { return AxisSet{1} << axis; }

// Trailing axes become lanes until they hold this many points.
constexpr std::int64_t kEnoughLanes = 64;
constexpr std::int64_t kLongestChunk = 8192;
constexpr std::int64_t kAlign = 64;

std::int64_t round_up(std::int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class Planner {
 public:
  Planner(const Kernel& kernel, const std::int64_t* sizes) : kernel_(kernel), sizes_(sizes) {
    RELAY_CHECK(kernel.extents.size() <= 64, "a kernel has at most 64 axes");
    const auto count = static_cast<std::size_t>(kernel.value_count);
    depends_.resize(count, 0);
    definitions_.resize(count, nullptr);
    region_of_.resize(count, 0);
    uses_.resize(count, 0);
    for (const auto& extent : kernel.extents) extents_.push_back(value(extent));
    scan(0);
    for (const auto& term : kernel.destination.terms) ++uses_[term.index];
  }

  Plan make() {
    plan_.nests.resize(kernel_.regions.size());
    plan_.axis_count = static_cast<std::int32_t>(kernel_.extents.size());
    plan_.varying.resize(definitions_.size(), false);
    choose_lanes();
    for (const auto& nest : plan_.nests) {
      for (std::size_t i = nest.first_lane; nest.owns_lanes && i < nest.axes.size(); ++i)
        lane_axes_ |= bit(nest.axes[i]);
    }
    for (std::size_t id = 0; id < definitions_.size(); ++id) {
      plan_.varying[id] = definitions_[id] != nullptr && (depends_[id] & lane_axes_) != 0;
    }
    for (std::size_t region = 0; region < kernel_.regions.size(); ++region)
      plan_region(static_cast<std::int32_t>(region));
    plan_store();
    assign_storage();
    return std::move(plan_);
  }

 private:
  std::int64_t value(const loops::Size& size) const {
    return size.is_literal ? size.value : sizes_[size.value];
  }

  // --- What depends on what ---

  void scan(std::int32_t region) {
    for (const Instruction& instruction : kernel_.regions[region].code) {
      if (instruction.code == Code::Reduce) scan(instruction.region);
      definitions_[instruction.id] = &instruction;
      region_of_[instruction.id] = region;
      depends_[instruction.id] = depends_of(instruction);
      for (ValueId arg : instruction.args) ++uses_[arg];
      for (const auto& term : instruction.address.terms) ++uses_[term.index];
    }
    ++uses_[kernel_.regions[region].result];
  }

  AxisSet depends_of(const Instruction& instruction) const {
    AxisSet set = 0;
    switch (instruction.code) {
      case Code::Axis:
        return bit(instruction.axis);
      case Code::Reduce: {
        // All of the region: a check inside may depend on an axis that the result does not.
        const Region& region = kernel_.regions[instruction.region];
        for (const Instruction& inner : region.code) set |= depends_[inner.id];
        set |= depends_[region.result];
        for (std::int32_t axis : region.axes) set &= ~bit(axis);
        return set;
      }
      default:
        for (ValueId arg : instruction.args) set |= depends_[arg];
        for (const auto& term : instruction.address.terms) set |= depends_[term.index];
        return set;
    }
  }

  // --- Which axes are lanes ---

  // By how much an address moves with `axis`; no value where that is not one number.
  bool stride_along(const loops::Address& address, std::int32_t axis, std::int64_t& stride) const {
    stride = 0;
    for (const auto& term : address.terms) {
      if ((depends_[term.index] & bit(axis)) == 0) continue;
      if (definitions_[term.index]->code != Code::Axis) return false;
      stride += value(term.stride);
    }
    return true;
  }

  // Estimated nanoseconds per element of running a region's instructions with lanes along `axis`.
  double lane_cost(const Region& region, std::int32_t axis) const {
    double cost = 0;
    for (const Instruction& instruction : region.code) {
      if (instruction.code == Code::Reduce) {
        const Region& inner = kernel_.regions[instruction.region];
        cost += lane_cost(inner, axis) * static_cast<double>(count_of(inner));
      }
      if ((depends_[instruction.id] & bit(axis)) == 0) continue;
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

  std::int64_t count_of(const Region& region) const {
    std::int64_t count = 1;
    for (std::int32_t axis : region.axes) count *= extents_[axis];
    return count;
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

  void choose_lanes() {
    for (std::size_t r = 0; r < kernel_.regions.size(); ++r) {
      Nest& nest = plan_.nests[r];
      if (r == 0) {
        for (std::int32_t axis = 0; axis < kernel_.domain_rank; ++axis) nest.axes.push_back(axis);
      } else {
        nest.axes = kernel_.regions[r].axes;
      }
      for (std::int32_t axis : nest.axes) nest.extents.push_back(extents_[axis]);
      nest.first_lane = nest.axes.size();
    }
    Nest& body = plan_.nests[0];
    const bool has_reductions = kernel_.regions.size() > 1;
    if (!has_reductions || !is_better_across()) {
      if (kernel_.domain_rank > 0) own_lanes(body);
      return;
    }
    for (const Instruction& instruction : kernel_.regions[0].code) {
      if (instruction.code == Code::Reduce) own_lanes(plan_.nests[instruction.region]);
    }
  }

  // Should each point of the domain be computed by itself, with the elements of its reductions as
  // lanes?
  bool is_better_across() const {
    if (kernel_.domain_rank == 0) return true;
    Nest body = plan_.nests[0];
    own_lanes(body);
    constexpr double kStepCost = 6;
    double points = 1;
    for (std::int64_t extent : body.extents) points *= static_cast<double>(extent);
    const double chunk = static_cast<double>(std::clamp<std::int64_t>(body.lane_points, 1, 128));
    double down = 0;
    double across = 0;
    for (const Instruction& instruction : kernel_.regions[0].code) {
      if (instruction.code != Code::Reduce) {
        across += kStepCost;
        continue;
      }
      const Region& region = kernel_.regions[instruction.region];
      if (region.axes.empty()) continue;
      const auto count = static_cast<double>(count_of(region));
      const auto steps = static_cast<double>(region.code.size() + 1);
      down +=
          count * (lane_cost(region, kernel_.domain_rank - 1) + 0.2 + steps * kStepCost / chunk);
      Nest nest = plan_.nests[instruction.region];
      own_lanes(nest);
      const double inner = static_cast<double>(std::clamp<std::int64_t>(nest.lane_points, 1, 512));
      across +=
          count * (lane_cost(region, region.axes.back()) + 0.15 + steps * kStepCost / inner) + 60;
    }
    return across < down;
  }

  // --- Steps ---

  std::size_t level_of(const Nest& nest, AxisSet depends) const {
    for (std::size_t i = nest.axes.size(); i-- > 0;) {
      if ((depends & bit(nest.axes[i])) == 0) continue;
      return i >= nest.first_lane ? nest.first_lane + 1 : i + 1;
    }
    return 0;
  }

  std::int32_t table_of(std::int32_t nest, const std::vector<std::int64_t>& strides) {
    for (std::size_t i = 0; i < plan_.tables.size(); ++i) {
      if (plan_.tables[i].nest == nest && plan_.tables[i].strides == strides)
        return static_cast<std::int32_t>(i);
    }
    plan_.tables.push_back({strides, nest, kNone});
    return static_cast<std::int32_t>(plan_.tables.size() - 1);
  }

  // The nest whose lanes an address or value moves with, or -1.
  std::int32_t lane_owner(AxisSet depends) const {
    for (std::size_t i = 0; i < plan_.nests.size(); ++i) {
      const Nest& nest = plan_.nests[i];
      for (std::size_t k = nest.first_lane; nest.owns_lanes && k < nest.axes.size(); ++k) {
        if ((depends & bit(nest.axes[k])) != 0) return static_cast<std::int32_t>(i);
      }
    }
    return -1;
  }

  Place place_of(const loops::Address& address) {
    Place place;
    place.offset = value(address.offset);
    AxisSet depends = 0;
    for (const auto& term : address.terms) depends |= depends_[term.index];
    const std::int32_t owner = lane_owner(depends);
    std::vector<std::int64_t> lane_strides;
    const Nest* nest = owner < 0 ? nullptr : &plan_.nests[owner];
    if (nest) lane_strides.assign(nest->axes.size() - nest->first_lane, 0);
    for (const auto& term : address.terms) {
      const std::int64_t stride = value(term.stride);
      const Instruction& index = *definitions_[term.index];
      if (index.code != Code::Axis) {
        auto& terms = plan_.varying[term.index] ? place.lane_terms : place.uniform_terms;
        terms.push_back({term.index, stride});
      } else if (!plan_.varying[term.index]) {
        place.outer.push_back({index.axis, stride});
      } else {
        const auto at =
            std::find(nest->axes.begin(), nest->axes.end(), index.axis) - nest->axes.begin();
        lane_strides[static_cast<std::size_t>(at) - nest->first_lane] += stride;
      }
    }
    if (!nest) return place;
    std::int64_t expected = lane_strides.empty() ? 0 : lane_strides.back();
    bool is_linear = place.lane_terms.empty();
    for (std::size_t i = lane_strides.size(); is_linear && i-- > 0;) {
      is_linear = lane_strides[i] == expected;
      expected *= nest->extents[nest->first_lane + i];
    }
    if (is_linear) {
      place.mode = Place::Mode::Linear;
      place.lane_stride = lane_strides.back();
      return place;
    }
    place.mode = Place::Mode::Offsets;
    const bool has_affine =
        std::any_of(lane_strides.begin(), lane_strides.end(), [](auto s) { return s != 0; });
    if (has_affine) place.table = table_of(owner, lane_strides);
    return place;
  }

  Step load(const Instruction& instruction) {
    Step step;
    step.action = Action::Load;
    step.buffer = instruction.buffer;
    step.place = place_of(instruction.address);
    step.element_size = static_cast<std::uint32_t>(lang::size_of(instruction.dtype));
    step.copy = lane_copy(step.element_size);
    step.gather = lane_gather(step.element_size);
    return step;
  }

  Step primitive(const Instruction& instruction, bool varying) {
    Step step;
    step.element_size = static_cast<std::uint32_t>(lang::size_of(instruction.dtype));
    unsigned uniform = 0;
    for (std::size_t i = 0; i < instruction.args.size(); ++i) {
      step.args[i] = instruction.args[i];
      if (varying && !plan_.varying[instruction.args[i]]) uniform |= 1u << i;
    }
    const DType operand = definitions_[instruction.args.back()]->dtype;
    step.function = instruction.prim == Prim::Cast
                        ? lane_cast(operand, instruction.dtype)
                        : lane_primitive(instruction.prim, operand, uniform);
    RELAY_CHECK(step.function != nullptr, "the lanes have no loop for a primitive at this dtype");
    return step;
  }

  void plan_region(std::int32_t region) {
    Nest& nest = plan_.nests[region];
    nest.levels.resize(nest.first_lane + (nest.owns_lanes ? 2 : 1));
    nest.result = kernel_.regions[region].result;
    for (const Instruction& instruction : kernel_.regions[region].code) {
      const bool varying = plan_.varying[instruction.id];
      Step step;
      switch (instruction.code) {
        case Code::Constant:
          plan_.constants.push_back({instruction.id, instruction.bits, kNone});
          continue;
        case Code::SizeValue:
          plan_.constants.push_back(
              {instruction.id, static_cast<std::uint64_t>(value(instruction.size)), kNone});
          continue;
        case Code::ScalarInput:
          plan_.scalar_inputs.push_back({instruction.id, instruction.buffer});
          continue;
        case Code::Axis: {
          if (!varying) {
            plan_.loop_indices.push_back({instruction.id, instruction.axis});
            continue;
          }
          if (!is_read_as_value(instruction.id)) continue;
          step.action = Action::Axis;
          const std::int32_t owner = lane_owner(bit(instruction.axis));
          const Nest& lanes = plan_.nests[owner];
          std::vector<std::int64_t> strides(lanes.axes.size() - lanes.first_lane, 0);
          const auto at = std::find(lanes.axes.begin(), lanes.axes.end(), instruction.axis) -
                          lanes.axes.begin();
          strides[static_cast<std::size_t>(at) - lanes.first_lane] = 1;
          step.table = table_of(owner, strides);
          break;
        }
        case Code::Load:
          step = load(instruction);
          break;
        case Code::Primitive:
          step = primitive(instruction, varying);
          break;
        case Code::CheckIndex:
          step.action = Action::Check;
          step.args[0] = instruction.args[0];
          step.extent = value(instruction.size);
          step.site = instruction.site;
          break;
        case Code::Reduce:
          step.action = Action::Reduce;
          step.nest = instruction.region;
          break;
      }
      step.out = instruction.id;
      step.varying = varying;
      const std::size_t level = level_of(nest, depends_[instruction.id]);
      nest.in_order.push_back({static_cast<std::uint32_t>(level),
                               static_cast<std::uint32_t>(nest.levels[level].size())});
      nest.levels[level].push_back(std::move(step));
    }
    if (region > 0) plan_fold(region);
  }

  // Axis values that only occur in addresses have become strides.
  bool is_read_as_value(ValueId id) const {
    for (const Instruction* instruction : definitions_) {
      if (instruction && std::find(instruction->args.begin(), instruction->args.end(), id) !=
                             instruction->args.end())
        return true;
    }
    for (const auto& region : kernel_.regions) {
      if (region.result == id) return true;
    }
    return false;
  }

  // --- Reductions ---

  const Instruction* reduce_of(std::int32_t region) const {
    for (const Instruction* instruction : definitions_) {
      if (instruction && instruction->code == Code::Reduce && instruction->region == region)
        return instruction;
    }
    return nullptr;
  }

  void plan_fold(std::int32_t region_number) {
    const Region& region = kernel_.regions[region_number];
    Nest& nest = plan_.nests[region_number];
    FoldPlan& fold = nest.fold;
    const Instruction* reduce = reduce_of(region_number);
    if (!reduce) return;
    const DType dtype = definitions_[region.result]->dtype;
    fold.op = region.op;
    fold.is_arg = loops::is_arg(region.op);
    fold.varying = plan_.varying[reduce->id];
    fold.element_size = static_cast<std::uint32_t>(lang::size_of(dtype));
    fold.count = count_of(region);
    fold.rows = nest.owns_lanes ? kReductionLanes
                                : std::clamp<std::int64_t>(fold.count, 1, kReductionLanes);
    fold.identity = loops::identity_bits(region.op, dtype);
    fold.fill = lane_copy(fold.element_size);
    if (fold.is_arg) {
      fold.arg = lane_arg(region.op, dtype);
      return;
    }
    const Prim prim = loops::prim_of(region.op);
    const unsigned uniform = fold.varying && !plan_.varying[region.result] ? 2 : 0;
    fold.fold_rows = lane_primitive(prim, dtype, uniform);
    fold.combine_pair = lane_primitive(prim, dtype, 0);
    fold.fold_across = lane_fold(region.op, dtype);
    RELAY_CHECK(fold.fold_rows && fold.fold_across,
                "the lanes have no loop for a reduction at this dtype");
    if ((fold.varying && uniform == 0) || nest.owns_lanes) fuse_product(nest);
  }

  // Folds a * b in one loop, if the element is a product that nothing else reads.
  void fuse_product(Nest& nest) {
    if (nest.fold.op != lang::ReduceOp::Sum || nest.levels.back().empty()) return;
    const Step& last = nest.levels.back().back();
    if (last.out != nest.result || last.action != Action::Primitive || uses_[last.out] != 1) return;
    const Instruction& product = *definitions_[last.out];
    if (product.prim != Prim::Mul) return;
    unsigned uniform = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!plan_.varying[product.args[i]]) uniform |= 1u << i;
    }
    FoldPlan& fold = nest.fold;
    if (nest.owns_lanes) {
      if (uniform == 0) fold.product_across = lane_fold_product(product.dtype);
    } else {
      fold.multiply_add = lane_multiply_add(product.dtype, uniform);
    }
    if (!fold.multiply_add && !fold.product_across) return;
    nest.fold.factors = {product.args[0], product.args[1]};
    const auto level = static_cast<std::uint32_t>(nest.levels.size() - 1);
    nest.levels.back().pop_back();
    const auto gone = static_cast<std::uint32_t>(nest.levels.back().size());
    std::erase_if(nest.in_order,
                  [&](const Nest::Position& at) { return at.level == level && at.step == gone; });
  }

  // --- The store ---

  void plan_store() {
    plan_.output = kernel_.output;
    const DType dtype = kernel_.buffers[kernel_.output].dtype;
    plan_.output_size = static_cast<std::uint32_t>(lang::size_of(dtype));
    plan_.destination = place_of(kernel_.destination);
    plan_.copy = lane_copy(plan_.output_size);
    plan_.scatter = lane_scatter(plan_.output_size);
    plan_.is_combine = kernel_.store == loops::StoreKind::Combine;
    if (plan_.is_combine) {
      plan_.combine = lane_combine(kernel_.combine, dtype);
      RELAY_CHECK(plan_.combine != nullptr, "the lanes cannot scatter with this reduction");
      if (plan_.destination.mode != Place::Mode::Uniform && plan_.destination.table < 0) {
        // Combining takes offsets, also where they are linear.
        const std::int32_t owner = 0;
        const Nest& nest = plan_.nests[owner];
        if (plan_.destination.mode == Place::Mode::Linear) {
          std::vector<std::int64_t> strides(nest.axes.size() - nest.first_lane, 0);
          std::int64_t stride = plan_.destination.lane_stride;
          for (std::size_t i = strides.size(); i-- > 0;) {
            strides[i] = stride;
            stride *= nest.extents[nest.first_lane + i];
          }
          plan_.destination.table = table_of(owner, strides);
        }
        plan_.destination.mode = Place::Mode::Offsets;
      }
      return;
    }
    Nest& body = plan_.nests[0];
    const bool is_dense =
        plan_.destination.mode == Place::Mode::Linear && plan_.destination.lane_stride == 1;
    if (!is_dense || !body.owns_lanes || region_of_[body.result] != 0) return;
    for (Step& step : body.levels.back()) {
      if (step.out == body.result && step.action == Action::Primitive && step.varying)
        step.to_output = true;
    }
  }

  // --- Memory ---

  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = plan_.arena_bytes;
    plan_.arena_bytes += round_up(bytes);
    return at;
  }

  static bool needs_storage(const Step& step) {
    if (step.to_output) return false;
    if (step.action == Action::Primitive) return true;
    if (step.action != Action::Load) return false;
    return step.place.mode == Place::Mode::Offsets ||
           (step.place.mode == Place::Mode::Linear && step.place.lane_stride != 1);
  }

  // The chunk of each nest that owns lanes: what is live per lane should stay in the first-level
  // cache.
  void choose_chunk(Nest& owner, const std::vector<std::int64_t>& bytes_per_lane,
                    std::int64_t nest) {
    const std::int64_t bytes = bytes_per_lane[static_cast<std::size_t>(nest)];
    std::int64_t chunk = bytes == 0 ? kLongestChunk : 24 * 1024 / bytes / 64 * 64;
    chunk = std::clamp<std::int64_t>(chunk, 64, kLongestChunk);
    owner.chunk = std::max<std::int64_t>(1, std::min(chunk, owner.lane_points));
  }

  // The nest whose lanes run the steps of `region`: itself or the one around it.
  std::int32_t owner_of(std::int32_t region) const {
    if (plan_.nests[region].owns_lanes) return region;
    if (plan_.nests[0].owns_lanes) return 0;
    // A reduction inside a reduction that owns lanes.
    const Instruction* reduce = reduce_of(region);
    return region == 0 || !reduce ? 0 : owner_of(region_of_[reduce->id]);
  }

  void assign_storage() {
    std::vector<std::int64_t> bytes_per_lane(plan_.nests.size(), 0);
    for (std::size_t r = 0; r < plan_.nests.size(); ++r) {
      const auto owner = static_cast<std::size_t>(owner_of(static_cast<std::int32_t>(r)));
      for (const auto& level : plan_.nests[r].levels) {
        for (const Step& step : level) {
          if (!step.varying) continue;
          if (needs_storage(step)) bytes_per_lane[owner] += step.element_size;
          if (!step.place.lane_terms.empty()) bytes_per_lane[owner] += 8;
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
    if (!plan_.destination.lane_terms.empty()) plan_.destination.scratch = take(8 * chunk);
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
    std::vector<std::size_t> maker(definitions_.size(), level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (needs_storage(level[i]) && level[i].varying) maker[level[i].out] = i;
    }
    std::vector<std::int32_t> reads(level.size(), 0);
    for (const Step& step : level) {
      for_each_read(step, [&](ValueId id) {
        if (maker[id] < level.size()) ++reads[maker[id]];
      });
    }
    for (std::size_t i = 0; i < level.size(); ++i) {
      Step& step = level[i];
      if (!step.place.lane_terms.empty()) step.place.scratch = take(8 * chunk);
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
      for_each_read(step, [&](ValueId id) {
        const std::size_t from = maker[id];
        if (from >= level.size() || --reads[from] > 0) return;
        if (uses_[id] == count_reads(level, id)) free_blocks.push_back(level[from].storage);
      });
    }
  }

  template <class F>
  void for_each_read(const Step& step, F f) const {
    const Instruction& instruction = *definitions_[step.out];
    for (ValueId arg : instruction.args) f(arg);
    for (const auto& term : instruction.address.terms) f(term.index);
  }
  std::int32_t count_reads(const std::vector<Step>& level, ValueId id) const {
    std::int32_t count = 0;
    for (const Step& step : level) for_each_read(step, [&](ValueId read) { count += read == id; });
    return count;
  }

  const Kernel& kernel_;
  const std::int64_t* sizes_;
  std::vector<std::int64_t> extents_;
  std::vector<AxisSet> depends_;
  std::vector<const Instruction*> definitions_;
  std::vector<std::int32_t> region_of_;
  std::vector<std::int32_t> uses_;
  AxisSet lane_axes_ = 0;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Kernel& kernel, const std::int64_t* sizes) {
  return Planner(kernel, sizes).make();
}

}  // namespace relay::interp::lanes
