#include "interp/lanes_loops.h"

namespace relay::interp::ops {

const DTypeLoops& loops_float64() {
  static constexpr DTypeLoops kLoops = dtype_loops<DType::Float64>();
  return kLoops;
}

}  // namespace relay::interp::ops
