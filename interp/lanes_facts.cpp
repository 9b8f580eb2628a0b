#include "interp/lanes_facts.h"

#include <algorithm>

#include "lang/diagnostic.h"

namespace relay::interp::lanes {

using loops::Code;
using loops::Instruction;
using loops::Kernel;
using loops::Region;
using loops::ValueId;

KernelFacts::KernelFacts(const Kernel& kernel, const std::int64_t* sizes)
    : kernel(kernel), sizes_(sizes) {
  RELAY_CHECK(kernel.extents.size() <= 64, "a kernel has at most 64 axes");
  const auto count = static_cast<std::size_t>(kernel.value_count);
  depends.resize(count, 0);
  definitions.resize(count, nullptr);
  region_of.resize(count, 0);
  uses.resize(count, 0);
  for (const auto& extent : kernel.extents) extents.push_back(value(extent));
  scan(0);
  for (const auto& term : kernel.destination.terms) ++uses[term.index];
  for (const loops::FurtherStore& store : kernel.further) {
    ++uses[store.value];
    for (const auto& term : store.destination.terms) ++uses[term.index];
  }
}

void KernelFacts::scan(std::int32_t region) {
  for (const Instruction& instruction : kernel.regions[region].code) {
    if (instruction.code == Code::Reduce) scan(instruction.region);
    definitions[instruction.id] = &instruction;
    region_of[instruction.id] = region;
    depends[instruction.id] = depends_of(instruction);
    for (ValueId arg : instruction.args) ++uses[arg];
    for (const auto& term : instruction.address.terms) ++uses[term.index];
  }
  ++uses[kernel.regions[region].result];
  // A dot reads the factors of its element.
  if (region > 0 && kernel.regions[region].op == lang::ReduceOp::Dot) {
    for (ValueId factor : definitions[kernel.regions[region].result]->args) ++uses[factor];
  }
}

AxisSet KernelFacts::depends_of(const Instruction& instruction) const {
  AxisSet set = 0;
  switch (instruction.code) {
    case Code::Axis:
      return bit(instruction.axis);
    case Code::Reduce: {
      // All of the region: a check inside may depend on an axis that the result does not.
      const Region& region = kernel.regions[instruction.region];
      for (const Instruction& inner : region.code) set |= depends[inner.id];
      set |= depends[region.result];
      for (std::int32_t axis : region.axes) set &= ~bit(axis);
      return set;
    }
    default:
      for (ValueId arg : instruction.args) set |= depends[arg];
      for (const auto& term : instruction.address.terms) set |= depends[term.index];
      return set;
  }
}

std::int64_t KernelFacts::count_of(const Region& region) const {
  std::int64_t count = 1;
  for (std::int32_t axis : region.axes) count *= extents[axis];
  return count;
}

const Instruction* KernelFacts::reduce_of(std::int32_t region) const {
  for (const Instruction* instruction : definitions) {
    if (instruction && instruction->code == Code::Reduce && instruction->region == region) {
      return instruction;
    }
  }
  return nullptr;
}

bool KernelFacts::is_operand(ValueId id) const {
  for (const Instruction* instruction : definitions) {
    if (!instruction) continue;
    const auto& args = instruction->args;
    if (std::find(args.begin(), args.end(), id) != args.end()) return true;
  }
  const auto is_stored = [&](const loops::FurtherStore& store) { return store.value == id; };
  return std::any_of(kernel.regions.begin(), kernel.regions.end(),
                     [&](const Region& region) { return region.result == id; }) ||
         std::any_of(kernel.further.begin(), kernel.further.end(), is_stored);
}

}  // namespace relay::interp::lanes
