#include "jit/analysis.h"

namespace relay::jit {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::Address;
using loops::Code;
using loops::Instruction;
using loops::Kernel;
using loops::Region;
using loops::ValueId;

Analysis::Analysis(const Kernel& kernel)
    : kernel_(kernel),
      depends_(static_cast<std::size_t>(kernel.value_count), 0),
      definitions_(static_cast<std::size_t>(kernel.value_count), nullptr) {
  if (kernel.extents.size() <= 64) scan(kernel.regions[0]);
}

bool Analysis::is_unit(std::int32_t axis) const {
  // Axis 0 runs over a part of its extent, so its index is not known.
  const bool is_split = axis == 0 && kernel_.domain_rank > 0;
  return !is_split && kernel_.extents[axis] == loops::Size::literal(1);
}

bool Analysis::may_fail(const Instruction& instruction) const {
  if (instruction.code == Code::CheckIndex) return true;
  if (instruction.code != Code::Primitive || !lang::is_int(instruction.dtype)) return false;
  switch (instruction.prim) {
    case Prim::Div:
    case Prim::FloorDiv:
    case Prim::Mod:
    case Prim::FloorMod: {
      const Instruction& divisor = definition(instruction.args[1]);
      return divisor.code != Code::Constant || divisor.bits == 0;
    }
    default:
      return false;
  }
}

AxisSet Analysis::depends_of(const Instruction& instruction) const {
  AxisSet set = 0;
  switch (instruction.code) {
    case Code::Axis:
      return is_unit(instruction.axis) ? 0 : axis_bit(instruction.axis);
    case Code::Constant:
    case Code::SizeValue:
    case Code::ScalarInput:
      return 0;
    case Code::Load:
      for (const auto& term : instruction.address.terms) set |= depends_[term.index];
      for (const ValueId mask : instruction.args) set |= depends_[mask];
      return set;
    case Code::Primitive:
    case Code::InRange:
    case Code::CheckIndex:
      for (const ValueId arg : instruction.args) set |= depends_[arg];
      return set;
    case Code::Reduce: {
      const Region& region = kernel_.regions[instruction.region];
      // All of it: a check inside may depend on an axis that the result does not.
      for (const Instruction& inner : region.code) set |= depends_[inner.id];
      set |= depends_[region.result];
      for (const std::int32_t axis : region.axes) set &= ~axis_bit(axis);
      return set;
    }
  }
  return set;
}

void Analysis::scan(const Region& region) {
  for (const Instruction& instruction : region.code) {
    if (instruction.code == Code::Reduce) scan(kernel_.regions[instruction.region]);
    definitions_[instruction.id] = &instruction;
    depends_[instruction.id] = depends_of(instruction);
    can_fail_ = can_fail_ || may_fail(instruction);
  }
}

bool Analysis::is_supported(const HostTraits& host) const {
  if (kernel_.extents.size() > 64) return false;
  if (kernel_.store == loops::StoreKind::Combine &&
      (kernel_.combine == ReduceOp::ArgMax || kernel_.combine == ReduceOp::ArgMin)) {
    return false;
  }
  for (const auto& buffer : kernel_.buffers) {
    if (buffer.dtype == DType::Float16 && !host.has_half) return false;
  }
  for (const Instruction* instruction : definitions_) {
    if (instruction != nullptr && instruction->dtype == DType::Float16 && !host.has_half)
      return false;
  }
  return true;
}

std::optional<std::int64_t> Analysis::step(ValueId id, std::int32_t axis) {
  if ((depends_[id] & axis_bit(axis)) == 0) return 0;
  return compute_step(id, axis);
}

std::optional<std::int64_t> Analysis::compute_step(ValueId id, std::int32_t axis) {
  const Instruction& instruction = *definitions_[id];
  if (instruction.dtype != DType::Int64) return std::nullopt;
  if (instruction.code == Code::Axis) return 1;
  if (instruction.code == Code::CheckIndex) return step(instruction.args[0], axis);
  if (instruction.code != Code::Primitive) return std::nullopt;
  const auto arg = [&](int i) { return step(instruction.args[i], axis); };
  const auto wrap = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const auto literal = [&](int i) -> std::optional<std::uint64_t> {
    const Instruction& from = *definitions_[instruction.args[i]];
    if (from.code != Code::Constant) return std::nullopt;
    return from.bits;
  };
  switch (instruction.prim) {
    case Prim::Add:
      if (arg(0) && arg(1)) return wrap(std::uint64_t(*arg(0)) + std::uint64_t(*arg(1)));
      return std::nullopt;
    case Prim::Sub:
      if (arg(0) && arg(1)) return wrap(std::uint64_t(*arg(0)) - std::uint64_t(*arg(1)));
      return std::nullopt;
    case Prim::Neg:
      if (arg(0)) return wrap(0 - std::uint64_t(*arg(0)));
      return std::nullopt;
    case Prim::Mul:
      for (int i = 0; i < 2; ++i) {
        if (literal(i) && arg(1 - i)) return wrap(*literal(i) * std::uint64_t(*arg(1 - i)));
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> Analysis::step(const Address& address, std::int32_t axis) {
  std::uint64_t sum = 0;
  for (const auto& term : address.terms) {
    if ((depends_[term.index] & axis_bit(axis)) == 0) continue;
    const auto index_step = step(term.index, axis);
    if (!index_step || !term.stride.is_literal) return std::nullopt;
    sum += std::uint64_t(*index_step) * std::uint64_t(term.stride.value);
  }
  return static_cast<std::int64_t>(sum);
}

void Analysis::count(const Region& region, std::int32_t axis, Layout& layout) {
  for (const Instruction& instruction : region.code) {
    if (instruction.code == Code::Reduce) {
      count(kernel_.regions[instruction.region], axis, layout);
    }
    if (instruction.code != Code::Load) continue;
    const auto stride = step(instruction.address, axis);
    if ((depends_[instruction.id] & axis_bit(axis)) == 0 || stride == 0) {
      ++layout.repeated;
    } else if (stride == 1 || stride == -1) {
      ++layout.along;
    } else {
      ++layout.gathers;
    }
  }
}

Analysis::Layout Analysis::layout(std::int32_t region, std::int32_t axis) {
  Layout layout;
  count(kernel_.regions[region], axis, layout);
  return layout;
}

int Analysis::size(std::int32_t region) const {
  int sum = 0;
  for (const Instruction& instruction : kernel_.regions[region].code) {
    ++sum;
    if (instruction.code == Code::Reduce) sum += size(instruction.region);
  }
  return sum;
}

std::optional<std::int64_t> Analysis::unrolled_count(std::int32_t region) const {
  constexpr std::int64_t kMostElements = 2 * loops::kReductionLanes;
  constexpr std::int64_t kMostInstructions = 256;
  const Region& reduction = kernel_.regions[region];
  std::int64_t count = 1;
  for (const std::int32_t axis : reduction.axes) {
    const loops::Size& extent = kernel_.extents[axis];
    if (!extent.is_literal || extent.value < 1 || extent.value > kMostElements) return std::nullopt;
    count *= extent.value;
    if (count > kMostElements) return std::nullopt;
  }
  if (count * size(region) > kMostInstructions) return std::nullopt;
  return count;
}

// Is there a reduction whose loops are not written out, and that changes along the axis?
bool Analysis::is_reduced(std::int32_t axis) const {
  for (const Instruction& instruction : kernel_.regions[0].code) {
    if (instruction.code == Code::Reduce && (depends_[instruction.id] & axis_bit(axis)) != 0 &&
        !unrolled_count(instruction.region))
      return true;
  }
  return false;
}

// Are there two to four points along the axis, and not known to be few along the one before it, and
// does all that is read and stored lie side by side along one of the two?
bool Analysis::is_short_row(std::int32_t axis) {
  constexpr std::int64_t kMostPoints = 4;
  constexpr std::int64_t kLeastLanes = 16;
  const loops::Size& lanes = kernel_.extents[axis - 1];
  if (kernel_.extents[axis].value > kMostPoints) return false;
  if (lanes.is_literal && lanes.value < kLeastLanes) return false;
  const auto is_along = [&](const Address& address, bool is_masked) {
    const auto across = step(address, axis - 1);
    if (across == 0 || across == 1 || across == -1) return true;
    return !is_masked && step(address, axis) == 1;
  };
  for (const Instruction& instruction : kernel_.regions[0].code) {
    if (instruction.code == Code::Reduce) return false;
    if (instruction.code == Code::Load && !is_along(instruction.address, !instruction.args.empty()))
      return false;
  }
  return is_along(kernel_.destination, false) &&
         std::all_of(kernel_.further.begin(), kernel_.further.end(),
                     [&](const auto& store) { return is_along(store.destination, false); });
}

std::int32_t Analysis::written_out_axis() {
  constexpr std::int64_t kMostPoints = 32;
  constexpr std::int64_t kMostInstructions = 1024;
  const std::int32_t axis = kernel_.domain_rank - 1;
  if (axis < 1 || is_unit(axis - 1) || kernel_.store != loops::StoreKind::Assign || can_fail_)
    return -1;
  const loops::Size& extent = kernel_.extents[axis];
  if (!extent.is_literal || extent.value < 2 || extent.value > kMostPoints ||
      extent.value * size(0) > kMostInstructions)
    return -1;
  if (is_short_row(axis)) return axis;
  for (const Instruction& instruction : kernel_.regions[0].code) {
    if (instruction.code == Code::Reduce) return -1;
    if (instruction.code != Code::Primitive || instruction.dtype != DType::Bool) continue;
    const bool is_of_axis =
        std::any_of(instruction.args.begin(), instruction.args.end(), [&](loops::ValueId arg) {
          return definition(arg).code == Code::Axis && definition(arg).axis == axis;
        });
    if (is_of_axis) return axis;
  }
  return -1;
}

std::int32_t Analysis::vector_axis() {
  if (const std::int32_t axis = written_out_axis(); axis > 0) return axis - 1;
  std::int32_t axis = kernel_.domain_rank - 1;
  while (axis > 0 && is_unit(axis)) --axis;
  if (axis < 0) return -1;
  if (!is_reduced(axis)) return axis;
  const auto& extent = kernel_.extents[axis];
  const bool is_short = axis > 0 && extent.is_literal && extent.value < 8;
  int across_gathers = 0;
  bool can_go_across = true;
  for (const Instruction& instruction : kernel_.regions[0].code) {
    if (instruction.code != Code::Reduce || (depends_[instruction.id] & axis_bit(axis)) == 0)
      continue;
    const std::int32_t inner = vector_axis(kernel_.regions[instruction.region]);
    if (inner < 0) {
      can_go_across = false;
    } else {
      across_gathers += layout(instruction.region, inner).gathers;
    }
  }
  if (!can_go_across) return axis;
  const int gathers = layout(0, axis).gathers;
  if (gathers != across_gathers) return gathers < across_gathers ? axis : -1;
  return is_short ? -1 : axis;
}

bool Analysis::gains_from_tiles(const Region& region, std::int32_t vector_axis) {
  const std::int32_t outer = vector_axis - 1;
  for (const Instruction& instruction : region.code) {
    if (instruction.code == Code::Reduce) {
      if (gains_from_tiles(kernel_.regions[instruction.region], vector_axis)) return true;
    }
    if (instruction.code != Code::Load) continue;
    const AxisSet depends = depends_[instruction.id];
    if ((depends & axis_bit(vector_axis)) == 0) continue;
    const bool is_reused = !region.axes.empty() && (depends & axis_bit(outer)) == 0;
    const auto across = step(instruction.address, vector_axis);
    const auto along = step(instruction.address, outer);
    const bool is_gather = across != 1 && across != -1;
    if (is_reused || (is_gather && (along == 1 || along == -1))) return true;
  }
  return false;
}

bool Analysis::wants_tiles(std::int32_t vector_axis) {
  const std::int32_t outer = vector_axis - 1;
  if (outer < 0 || is_unit(outer) || can_fail_ || kernel_.store != loops::StoreKind::Assign)
    return false;
  // What belongs to the outer axis is computed again in each tile: nothing big may be among it.
  for (const Instruction& instruction : kernel_.regions[0].code) {
    const AxisSet depends = depends_[instruction.id];
    const bool is_inner = (depends & axis_bit(vector_axis)) != 0;
    const bool is_outer = !is_inner && (depends & axis_bit(outer)) != 0;
    if (instruction.code == Code::Reduce && is_outer) return false;
  }
  return gains_from_tiles(kernel_.regions[0], vector_axis);
}

std::int32_t Analysis::vector_axis(const Region& reduction) {
  const std::int32_t axis = reduction.axes.empty() ? -1 : reduction.axes.back();
  if (axis < 0) return -1;
  Layout found;
  count(reduction, axis, found);
  return found.gathers > found.along + found.repeated ? -1 : axis;
}

}  // namespace relay::jit
