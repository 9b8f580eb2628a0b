#include "interp/lanes_loops.h"

namespace relay::interp::ops {

const DTypeLoops& loops_int(DType dtype) {
  static constexpr DTypeLoops kInt32 = dtype_loops<DType::Int32>();
  static constexpr DTypeLoops kInt64 = dtype_loops<DType::Int64>();
  static constexpr DTypeLoops kUInt32 = dtype_loops<DType::UInt32>();
  static constexpr DTypeLoops kUInt64 = dtype_loops<DType::UInt64>();
  switch (dtype) {
    case DType::Int32:
      return kInt32;
    case DType::UInt32:
      return kUInt32;
    case DType::UInt64:
      return kUInt64;
    default:
      return kInt64;
  }
}

}  // namespace relay::interp::ops
