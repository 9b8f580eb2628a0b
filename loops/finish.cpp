#include "loops/finish.h"

#include <algorithm>
#include <map>
#include <utility>

#include "loops/launch_sizes.h"

namespace relay::loops {

namespace {

// Extents below this are part of the code: loops so short are worth unrolling.
constexpr std::int64_t kShortExtent = 8;
constexpr std::int64_t kMostChoices = 32;  // of an axis that is written out

double weight_of(const Instruction& instruction) {
  if (instruction.code != Code::Primitive) return instruction.code == Code::Load ? 1 : 0.25;
  const bool is_math = (instruction.prim >= Prim::Rsqrt && instruction.prim <= Prim::Erf) ||
                       instruction.prim == Prim::Pow;
  return is_math ? 8 : 1;
}

class Finisher {
 public:
  Finisher(Draft draft, std::span<const DType> buffer_dtypes)
      : draft_(std::move(draft)), buffer_dtypes_(buffer_dtypes) {}

  Launch run(std::vector<std::string>* names = nullptr) {
    mark_live();
    if (!names) collapse();
    number_axes();
    if (names) {
      names->resize(kernel().extents.size());
      for (std::size_t axis = 0; axis < draft_.axis_names.size(); ++axis) {
        if (axis_numbers_[axis] >= 0)
          (*names)[static_cast<std::size_t>(axis_numbers_[axis])] = draft_.axis_names[axis];
      }
    }
    kernel().value_count = 0;
    value_ids_.assign(draft_.values.size(), -1);
    axis_ids_.assign(draft_.extents.size(), -1);
    region_ids_.assign(draft_.regions.size(), -1);
    add_region(0);
    kernel().store = draft_.store;
    kernel().combine = draft_.combine;
    kernel().output = buffer(draft_.output, true);
    kernel().destination = address(draft_.destination);
    for (const DraftStore& store : draft_.further) {
      kernel().further.push_back({value_ids_[static_cast<std::size_t>(store.value)],
                                  buffer(store.output, true), address(store.destination)});
    }
    kernel().sites = std::move(draft_.sites);
    double points = 1;
    for (std::int32_t axis : draft_.domain)
      points *= static_cast<double>(draft_.extents[static_cast<std::size_t>(axis)]);
    launch_.cost = static_cast<std::int64_t>(std::min(points * (cost_of(0) + 1), 9e18));
    const std::int64_t outer =
        draft_.domain.empty() ? 1 : draft_.extents[static_cast<std::size_t>(draft_.domain[0])];
    kernel().polls = launch_.cost / std::max<std::int64_t>(outer, 1) > kSliceCost;
    return std::move(launch_);
  }

 private:
  Kernel& kernel() { return launch_.kernel; }
  DraftInstruction& value(ValueId id) { return draft_.values[static_cast<std::size_t>(id)]; }

  // --- What is used ---

  void mark_live() {
    live_.assign(draft_.values.size(), false);
    live_axes_.assign(draft_.extents.size(), false);
    mark(draft_.regions[0].result);
    mark(draft_.destination);
    for (const DraftStore& store : draft_.further) {
      mark(store.value);
      mark(store.destination);
    }
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      if (draft_.values[id].code == Code::CheckIndex) mark(static_cast<ValueId>(id));
    }
  }

  void mark(const IndexExpr& address) {
    for (const auto& term : address.terms) {
      const auto& atom = draft_.space.atom(term.atom);
      if (atom.kind == IndexSpace::Atom::Kind::Opaque) mark(atom.id);
      if (atom.kind == IndexSpace::Atom::Kind::Axis)
        live_axes_[static_cast<std::size_t>(atom.id)] = true;
    }
  }

  void mark(ValueId id) {
    if (live_[static_cast<std::size_t>(id)]) return;
    live_[static_cast<std::size_t>(id)] = true;
    const DraftInstruction& instruction = value(id);
    for (ValueId arg : instruction.args) mark(arg);
    mark(instruction.address);
    if (instruction.code == Code::Axis)
      live_axes_[static_cast<std::size_t>(instruction.axis)] = true;
    if (instruction.code == Code::Reduce)
      mark(draft_.regions[static_cast<std::size_t>(instruction.region)].result);
  }

  // --- Collapsing axes ---

  std::int64_t coefficient(const IndexExpr& address, std::int32_t axis) const {
    for (const auto& term : address.terms) {
      const auto& atom = draft_.space.atom(term.atom);
      if (atom.kind == IndexSpace::Atom::Kind::Axis && atom.id == axis) return term.coefficient;
    }
    return 0;
  }

  void remove_axis(IndexExpr& address, std::int32_t axis) const {
    std::erase_if(address.terms, [&](const IndexTerm& term) {
      const auto& atom = draft_.space.atom(term.atom);
      return atom.kind == IndexSpace::Atom::Kind::Axis && atom.id == axis;
    });
  }

  template <class F>
  bool for_all_addresses(F f) {
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      if (live_[id] && draft_.values[id].code == Code::Load && !f(draft_.values[id].address))
        return false;
    }
    for (DraftStore& store : draft_.further) {
      if (!f(store.destination)) return false;
    }
    return f(draft_.destination);
  }

  bool is_value(std::int32_t axis) const {
    if (!draft_.axis_is_value[static_cast<std::size_t>(axis)]) return false;
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      if (live_[id] && draft_.values[id].code == Code::Axis && draft_.values[id].axis == axis)
        return true;
    }
    return false;
  }

  void collapse(std::vector<std::int32_t>& axes) {
    for (std::size_t i = axes.size(); i-- > 1;) {
      const std::int32_t outer = axes[i - 1];
      const std::int32_t inner = axes[i];
      const std::int64_t extent = draft_.extents[static_cast<std::size_t>(inner)];
      if (is_value(outer) || is_value(inner)) continue;
      const bool agree = for_all_addresses([&](const IndexExpr& address) {
        return coefficient(address, outer) == coefficient(address, inner) * extent;
      });
      if (!agree) continue;
      for_all_addresses([&](IndexExpr& address) {
        remove_axis(address, outer);
        return true;
      });
      // The inner axis takes the outer one's place.
      draft_.extents[static_cast<std::size_t>(inner)] *=
          draft_.extents[static_cast<std::size_t>(outer)];
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
  }

  void collapse() {
    collapse(draft_.domain);
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      if (live_[id] && draft_.values[id].code == Code::Reduce) {
        collapse(draft_.regions[static_cast<std::size_t>(draft_.values[id].region)].axes);
      }
    }
  }

  // --- Numbers and slots ---

  // A mask and a check of one index have one slot, so that code compares once.
  Size limit(const DraftInstruction& from) {
    if (from.args.empty()) return slot_of(from.number, launch_);
    const auto [found, is_new] = limits_.try_emplace({from.args[0], from.number});
    if (is_new) found->second = slot_of(from.number, launch_);
    return found->second;
  }

  // Is the index of the axis compared with numbers?
  bool chooses_by(std::int32_t axis) const {
    const auto is_axis = [&](ValueId id) {
      const DraftInstruction& value = draft_.values[static_cast<std::size_t>(id)];
      return value.code == Code::Axis && value.axis == axis;
    };
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      const DraftInstruction& value = draft_.values[id];
      if (live_[id] && value.code == Code::Primitive && value.dtype == DType::Bool &&
          std::any_of(value.args.begin(), value.args.end(), is_axis))
        return true;
    }
    return false;
  }

  // A number that the index of an axis of known extent is compared with: part of the code, too.
  bool is_choice(ValueId number) const {
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      const DraftInstruction& value = draft_.values[id];
      if (!live_[id] || value.code != Code::Primitive || value.dtype != DType::Bool ||
          std::find(value.args.begin(), value.args.end(), number) == value.args.end())
        continue;
      const bool is_of_known = std::any_of(value.args.begin(), value.args.end(), [&](ValueId arg) {
        const DraftInstruction& index = draft_.values[static_cast<std::size_t>(arg)];
        if (index.code != Code::Axis) return false;
        const std::int32_t axis = axis_numbers_[static_cast<std::size_t>(index.axis)];
        return axis >= 0 && launch_.kernel.extents[static_cast<std::size_t>(axis)].is_literal;
      });
      if (is_of_known) return true;
    }
    return false;
  }

  void number_axes() {
    axis_numbers_.assign(draft_.extents.size(), -1);
    const auto add = [&](std::int32_t axis, bool may_be_literal, std::int64_t shorter_than) {
      const std::int64_t extent = draft_.extents[static_cast<std::size_t>(axis)];
      axis_numbers_[static_cast<std::size_t>(axis)] =
          static_cast<std::int32_t>(kernel().extents.size());
      const bool is_short = extent < shorter_than || (extent <= kMostChoices && chooses_by(axis));
      kernel().extents.push_back(may_be_literal && is_short ? Size::literal(extent)
                                                            : slot_of(extent, launch_));
    };
    // The outermost axis is the one that is split, and the one that batches grow along.
    for (std::size_t i = 0; i < draft_.domain.size(); ++i)
      add(draft_.domain[i], i > 0, kShortExtent);
    kernel().domain_rank = static_cast<std::int32_t>(draft_.domain.size());
    for (std::size_t id = 0; id < draft_.values.size(); ++id) {
      if (!live_[id] || draft_.values[id].code != Code::Reduce) continue;
      for (std::int32_t axis :
           draft_.regions[static_cast<std::size_t>(draft_.values[id].region)].axes)
        add(axis, true, kReductionLanes + 1);
    }
  }

  std::int32_t buffer(std::int32_t group_buffer, bool is_output) {
    for (std::size_t i = 0; i < launch_.buffers.size(); ++i) {
      if (launch_.buffers[i] == group_buffer && kernel().buffers[i].is_output == is_output)
        return static_cast<std::int32_t>(i);
    }
    launch_.buffers.push_back(group_buffer);
    kernel().buffers.push_back({buffer_dtypes_[static_cast<std::size_t>(group_buffer)], is_output});
    return static_cast<std::int32_t>(launch_.buffers.size()) - 1;
  }

  Address address(const IndexExpr& index) {
    Address result;
    for (const auto& term : index.terms) {
      const auto& atom = draft_.space.atom(term.atom);
      const ValueId id = atom.kind == IndexSpace::Atom::Kind::Axis
                             ? axis_ids_[static_cast<std::size_t>(atom.id)]
                             : value_ids_[static_cast<std::size_t>(atom.id)];
      result.terms.push_back({id, stride_of(term.coefficient, launch_)});
    }
    result.offset = index.constant == 0 ? Size::literal(0) : slot_of(index.constant, launch_);
    return result;
  }

  // --- Code ---

  std::int32_t add_region(std::int32_t from) {
    const auto number = static_cast<std::int32_t>(kernel().regions.size());
    region_ids_[static_cast<std::size_t>(from)] = number;
    kernel().regions.emplace_back();
    const DraftRegion draft = draft_.regions[static_cast<std::size_t>(from)];
    std::vector<Instruction> code;
    const std::vector<std::int32_t>& axes = from == 0 ? draft_.domain : draft.axes;
    for (std::int32_t axis : axes) {
      if (!live_axes_[static_cast<std::size_t>(axis)]) continue;
      Instruction instruction{};
      instruction.code = Code::Axis;
      instruction.dtype = DType::Int64;
      instruction.id = kernel().value_count++;
      instruction.axis = axis_numbers_[static_cast<std::size_t>(axis)];
      axis_ids_[static_cast<std::size_t>(axis)] = instruction.id;
      code.push_back(std::move(instruction));
    }
    // In the order in which values were made, which puts operands first also where a region got
    // code while one inside it was being built.
    std::vector<ValueId> order = draft.code;
    std::sort(order.begin(), order.end());
    for (ValueId id : order) {
      if (live_[static_cast<std::size_t>(id)]) add_instruction(id, code);
    }
    Region& region = kernel().regions[static_cast<std::size_t>(number)];
    region.code = std::move(code);
    region.result = value_ids_[static_cast<std::size_t>(draft.result)];
    region.op = draft.op;
    if (from != 0) {
      for (std::int32_t axis : draft.axes)
        region.axes.push_back(axis_numbers_[static_cast<std::size_t>(axis)]);
    }
    return number;
  }

  void add_instruction(ValueId id, std::vector<Instruction>& code) {
    const DraftInstruction& from = value(id);
    if (from.code == Code::Axis) {
      value_ids_[static_cast<std::size_t>(id)] = axis_ids_[static_cast<std::size_t>(from.axis)];
      return;
    }
    Instruction instruction{};
    instruction.code = from.code;
    instruction.dtype = from.dtype;
    instruction.bits = from.bits;
    instruction.prim = from.prim;
    if (from.code == Code::SizeValue && is_choice(id)) {
      instruction.code = Code::Constant;
      instruction.bits = static_cast<std::uint64_t>(from.number);
    } else if (from.code == Code::SizeValue || from.code == Code::InRange ||
               from.code == Code::CheckIndex)
      instruction.size = limit(from);
    if (from.code == Code::Load || from.code == Code::ScalarInput)
      instruction.buffer = buffer(from.buffer, false);
    if (from.code == Code::Load) instruction.address = address(from.address);
    for (ValueId arg : from.args)
      instruction.args.push_back(value_ids_[static_cast<std::size_t>(arg)]);
    instruction.site = from.site;
    if (from.code == Code::Reduce) instruction.region = add_region(from.region);
    instruction.id = kernel().value_count++;
    value_ids_[static_cast<std::size_t>(id)] = instruction.id;
    code.push_back(std::move(instruction));
  }

  double cost_of(std::int32_t number) {
    const Region& region = kernel().regions[static_cast<std::size_t>(number)];
    double cost = 0;
    for (const Instruction& instruction : region.code) {
      cost +=
          instruction.code == Code::Reduce ? cost_of(instruction.region) : weight_of(instruction);
    }
    for (std::int32_t axis : region.axes) {
      const Size& size = kernel().extents[static_cast<std::size_t>(axis)];
      cost *= static_cast<double>(
          size.is_literal ? size.value : launch_.sizes[static_cast<std::size_t>(size.value)]);
    }
    return cost;
  }

  Draft draft_;
  std::span<const DType> buffer_dtypes_;
  Launch launch_;
  std::vector<bool> live_;
  std::vector<bool> live_axes_;
  std::vector<std::int32_t> axis_numbers_;  // by draft axis: in the kernel
  std::vector<ValueId> axis_ids_;           // by draft axis: its value
  std::vector<ValueId> value_ids_;
  std::vector<std::int32_t> region_ids_;
  std::map<std::pair<ValueId, std::int64_t>, Size> limits_;  // by index and extent
};

}  // namespace

Launch finish(Draft draft, std::span<const DType> buffer_dtypes) {
  return Finisher(std::move(draft), buffer_dtypes).run();
}

Launch finish_as_it_is(Draft draft, std::span<const DType> buffer_dtypes,
                       std::vector<std::string>& names) {
  return Finisher(std::move(draft), buffer_dtypes).run(&names);
}

}  // namespace relay::loops
