#pragma once

#include <cstdint>
#include <vector>

#include "loops/loop_ir.h"

namespace relay::interp::lanes {

// A set of a kernel's axes, as bits.
using AxisSet = std::uint64_t;
inline AxisSet bit(std::int32_t axis) { return AxisSet{1} << axis; }

// What planning asks about a kernel at given sizes.
class KernelFacts {
 public:
  KernelFacts(const loops::Kernel& kernel, const std::int64_t* sizes);

  std::int64_t value(const loops::Size& size) const {
    return size.is_literal ? size.value : sizes_[size.value];
  }
  // Elements of a reduction.
  std::int64_t count_of(const loops::Region& region) const;
  // The instruction that reduces `region`; null for the body.
  const loops::Instruction* reduce_of(std::int32_t region) const;
  // Is a value an operand or a result, and not only an index in addresses?
  bool is_operand(loops::ValueId id) const;

  const loops::Kernel& kernel;
  std::vector<std::int64_t> extents;                   // by axis
  std::vector<AxisSet> depends;                        // by value: axes it changes along
  std::vector<const loops::Instruction*> definitions;  // by value
  std::vector<std::int32_t> region_of;                 // by value
  std::vector<std::int32_t> uses;                      // by value

 private:
  void scan(std::int32_t region);
  AxisSet depends_of(const loops::Instruction& instruction) const;
  const std::int64_t* sizes_;
};

}  // namespace relay::interp::lanes
