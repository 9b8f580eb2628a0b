#include "interp/lanes_plan.h"

#include <algorithm>
#include <span>

#include "lang/diagnostic.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::interp::lanes {

using lang::DType;
using lang::Prim;
using loops::Code;
using loops::Instruction;
using loops::Kernel;
using loops::kReductionLanes;
using loops::Region;

namespace {

class Planner {
 public:
  Planner(const Kernel& kernel, const std::int64_t* sizes) : facts_(kernel, sizes) {}

  Plan make() {
    plan_.axis_count = static_cast<std::int32_t>(facts_.kernel.extents.size());
    plan_.varying.resize(facts_.definitions.size(), false);
    choose_lanes(facts_, plan_.nests);
    for (const auto& nest : plan_.nests) {
      for (std::size_t i = nest.first_lane; nest.owns_lanes && i < nest.axes.size(); ++i)
        lane_axes_ |= bit(nest.axes[i]);
    }
    for (std::size_t id = 0; id < facts_.definitions.size(); ++id) {
      plan_.varying[id] =
          facts_.definitions[id] != nullptr && (facts_.depends[id] & lane_axes_) != 0;
    }
    for (std::size_t region = 0; region < facts_.kernel.regions.size(); ++region)
      plan_region(static_cast<std::int32_t>(region));
    plan_stores();
    assign_storage(facts_, plan_);
    return std::move(plan_);
  }

 private:
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
    place.offset = facts_.value(address.offset);
    AxisSet depends = 0;
    for (const auto& term : address.terms) depends |= facts_.depends[term.index];
    const std::int32_t owner = lane_owner(depends);
    std::vector<std::int64_t> lane_strides;
    const Nest* nest = owner < 0 ? nullptr : &plan_.nests[owner];
    if (nest) lane_strides.assign(nest->axes.size() - nest->first_lane, 0);
    for (const auto& term : address.terms) {
      const std::int64_t stride = facts_.value(term.stride);
      const Instruction& index = *facts_.definitions[term.index];
      if (index.code != Code::Axis) {
        auto& terms = plan_.varying[term.index] ? place.lane_terms : place.uniform_terms;
        terms.push_back({term.index, stride});
      } else if (nest == nullptr || !plan_.varying[term.index]) {
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

  Masks masks_of(std::span<const ValueId> values) const {
    Masks masks;
    for (const ValueId value : values)
      (plan_.varying[value] ? masks.varying : masks.uniform).push_back(value);
    return masks;
  }

  Step load(const Instruction& instruction) {
    Step step;
    step.action = Action::Load;
    step.buffer = instruction.buffer;
    step.place = place_of(instruction.address);
    step.element_size = static_cast<std::uint32_t>(lang::size_of(instruction.dtype));
    step.copy = lane_copy(step.element_size);
    step.gather = lane_gather(step.element_size);
    step.masked = lane_masked(step.element_size);
    step.masks = masks_of(instruction.args);
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
    const DType operand = facts_.definitions[instruction.args.back()]->dtype;
    step.function = instruction.prim == Prim::Cast
                        ? lane_cast(operand, instruction.dtype)
                        : lane_primitive(instruction.prim, operand, uniform);
    RELAY_CHECK(step.function != nullptr, "the lanes have no loop for a primitive at this dtype");
    return step;
  }

  void plan_region(std::int32_t region) {
    Nest& nest = plan_.nests[region];
    nest.levels.resize(nest.first_lane + (nest.owns_lanes ? 2 : 1));
    nest.result = facts_.kernel.regions[region].result;
    for (const Instruction& instruction : facts_.kernel.regions[region].code) {
      const bool varying = plan_.varying[instruction.id];
      Step step;
      switch (instruction.code) {
        case Code::Constant:
          plan_.constants.push_back({instruction.id, instruction.bits, kNone});
          continue;
        case Code::SizeValue:
          plan_.constants.push_back(
              {instruction.id, static_cast<std::uint64_t>(facts_.value(instruction.size)), kNone});
          continue;
        case Code::ScalarInput:
          plan_.scalar_inputs.push_back({instruction.id, instruction.buffer});
          continue;
        case Code::Axis: {
          if (!varying) {
            plan_.loop_indices.push_back({instruction.id, instruction.axis});
            continue;
          }
          // In addresses it has become a stride.
          if (!facts_.is_operand(instruction.id)) continue;
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
        case Code::InRange:
          step.action = Action::Range;
          step.args[0] = instruction.args[0];
          step.extent = facts_.value(instruction.size);
          step.element_size = 1;
          break;
        case Code::CheckIndex:
          step.action = Action::Check;
          step.args[0] = instruction.args[0];
          step.masks = masks_of(std::span(instruction.args).subspan(1));
          step.extent = facts_.value(instruction.size);
          step.site = instruction.site;
          break;
        case Code::Reduce:
          step.action = Action::Reduce;
          step.nest = instruction.region;
          break;
      }
      step.out = instruction.id;
      step.varying = varying;
      const std::size_t level = level_of(nest, facts_.depends[instruction.id]);
      nest.in_order.push_back({static_cast<std::uint32_t>(level),
                               static_cast<std::uint32_t>(nest.levels[level].size())});
      nest.levels[level].push_back(std::move(step));
    }
    if (region > 0) plan_fold(region);
  }

  // --- Reductions ---

  void plan_fold(std::int32_t region_number) {
    const Region& region = facts_.kernel.regions[region_number];
    Nest& nest = plan_.nests[region_number];
    FoldPlan& fold = nest.fold;
    const Instruction* reduce = facts_.reduce_of(region_number);
    if (!reduce) return;
    const DType dtype = facts_.definitions[region.result]->dtype;
    fold.op = region.op;
    fold.is_arg = loops::is_arg(region.op);
    fold.varying = plan_.varying[reduce->id];
    fold.element_size = static_cast<std::uint32_t>(lang::size_of(dtype));
    fold.count = facts_.count_of(region);
    fold.rows = nest.owns_lanes ? kReductionLanes
                                : std::clamp<std::int64_t>(fold.count, 1, kReductionLanes);
    fold.levels = loops::has_blocks(region.op, dtype) ? loops::waiting_levels(fold.count) : 0;
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
    if (region.op == lang::ReduceOp::Dot) {
      plan_dot(nest);
    } else if ((fold.varying && uniform == 0) || nest.owns_lanes) {
      fuse_product(nest);
    }
  }

  void plan_dot(Nest& nest) {
    const Instruction& product = *facts_.definitions[nest.result];
    RELAY_CHECK(product.code == Code::Primitive && product.prim == Prim::Mul,
                "the element of a dot is a product");
    nest.fold.dot = lane_dot(product.dtype);
    RELAY_CHECK(nest.fold.dot.across != nullptr, "the lanes have no dot of this dtype");
    nest.fold.factors = {product.args[0], product.args[1]};
    if (is_last_step(nest, product)) drop_last_step(nest);
  }

  // Folds a * b in one loop, if the element is a product that nothing else reads.
  void fuse_product(Nest& nest) {
    const Instruction& product = *facts_.definitions[nest.result];
    if (nest.fold.op != lang::ReduceOp::Sum || product.code != Code::Primitive ||
        product.prim != Prim::Mul || !is_last_step(nest, product))
      return;
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
    drop_last_step(nest);
  }

  // Is this what the nest computes last, for its fold alone?
  bool is_last_step(const Nest& nest, const Instruction& instruction) const {
    return !nest.levels.back().empty() && nest.levels.back().back().out == instruction.id &&
           facts_.uses[instruction.id] == 1;
  }

  static void drop_last_step(Nest& nest) {
    const auto level = static_cast<std::uint32_t>(nest.levels.size() - 1);
    nest.levels.back().pop_back();
    const auto gone = static_cast<std::uint32_t>(nest.levels.back().size());
    std::erase_if(nest.in_order,
                  [&](const Nest::Position& at) { return at.level == level && at.step == gone; });
  }

  // --- The stores ---

  void add_store(ValueId value, std::int32_t output, const loops::Address& destination) {
    Store store;
    store.value = value;
    store.output = output;
    store.element_size =
        static_cast<std::uint32_t>(lang::size_of(facts_.kernel.buffers[output].dtype));
    store.destination = place_of(destination);
    store.copy = lane_copy(store.element_size);
    store.scatter = lane_scatter(store.element_size);
    plan_.stores.push_back(std::move(store));
  }

  void plan_stores() {
    const Kernel& kernel = facts_.kernel;
    add_store(kernel.regions[0].result, kernel.output, kernel.destination);
    for (const loops::FurtherStore& store : kernel.further)
      add_store(store.value, store.output, store.destination);
    if (kernel.store == loops::StoreKind::Combine) {
      plan_combine(plan_.stores[0].destination);
    } else if (plan_.stores.size() == 1) {  // else a value may be read after one is stored
      write_through(plan_.stores[0]);
    }
  }

  void plan_combine(Place& destination) {
    plan_.combine =
        lane_combine(facts_.kernel.combine, facts_.kernel.buffers[facts_.kernel.output].dtype);
    RELAY_CHECK(plan_.combine != nullptr, "the lanes cannot scatter with this reduction");
    if (destination.mode == Place::Mode::Uniform || destination.table >= 0) return;
    // Combining takes offsets, also where they are linear.
    const std::int32_t owner = 0;
    const Nest& nest = plan_.nests[owner];
    if (destination.mode == Place::Mode::Linear) {
      std::vector<std::int64_t> strides(nest.axes.size() - nest.first_lane, 0);
      std::int64_t stride = destination.lane_stride;
      for (std::size_t i = strides.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= nest.extents[nest.first_lane + i];
      }
      destination.table = table_of(owner, strides);
    }
    destination.mode = Place::Mode::Offsets;
  }

  void write_through(const Store& store) {
    Nest& body = plan_.nests[0];
    const bool is_dense =
        store.destination.mode == Place::Mode::Linear && store.destination.lane_stride == 1;
    if (!is_dense || !body.owns_lanes || facts_.region_of[body.result] != 0) return;
    for (Step& step : body.levels.back()) {
      if (step.out == body.result && step.action == Action::Primitive && step.varying)
        step.to_output = true;
    }
  }

  KernelFacts facts_;
  AxisSet lane_axes_ = 0;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Kernel& kernel, const std::int64_t* sizes) {
  return Planner(kernel, sizes).make();
}

}  // namespace relay::interp::lanes
