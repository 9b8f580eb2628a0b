#include "interp/lanes_loops.h"

namespace relay::interp::ops {

const DTypeLoops& loops_half(DType dtype) {
  static constexpr DTypeLoops kHalf = dtype_loops<DType::Float16>();
  static constexpr DTypeLoops kBrain = dtype_loops<DType::BFloat16>();
  return dtype == DType::Float16 ? kHalf : kBrain;
}

}  // namespace relay::interp::ops
