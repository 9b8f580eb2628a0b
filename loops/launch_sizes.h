#pragma once

#include <cstdint>

#include "loops/loop_ir.h"
#include "loops/lower.h"

// Numbers that vary from call to call stand in a launch, and its kernel's code has their slots.
namespace relay::loops {

inline std::int64_t number_of(const Size& size, const Launch& launch) {
  return size.is_literal ? size.value : launch.sizes[static_cast<std::size_t>(size.value)];
}

// A new slot of the kernel, with that number.
inline Size slot_of(std::int64_t number, Launch& launch) {
  launch.sizes.push_back(number);
  launch.kernel.slot_count = static_cast<std::int32_t>(launch.sizes.size());
  return Size::slot(launch.kernel.slot_count - 1);
}

// The same of a stride: -1, 0 and 1 are part of the code.
inline Size stride_of(std::int64_t number, Launch& launch) {
  return number >= -1 && number <= 1 ? Size::literal(number) : slot_of(number, launch);
}

}  // namespace relay::loops
