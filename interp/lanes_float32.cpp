#include "interp/lanes_loops.h"

namespace relay::interp::ops {

const DTypeLoops& loops_float32() {
  static constexpr DTypeLoops kLoops = dtype_loops<DType::Float32>();
  return kLoops;
}

}  // namespace relay::interp::ops
