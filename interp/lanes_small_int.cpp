#include "interp/lanes_loops.h"

namespace relay::interp::ops {

const DTypeLoops& loops_small_int(DType dtype) {
  static constexpr DTypeLoops kBool = dtype_loops<DType::Bool>();
  static constexpr DTypeLoops kInt8 = dtype_loops<DType::Int8>();
  static constexpr DTypeLoops kInt16 = dtype_loops<DType::Int16>();
  static constexpr DTypeLoops kUInt8 = dtype_loops<DType::UInt8>();
  static constexpr DTypeLoops kUInt16 = dtype_loops<DType::UInt16>();
  switch (dtype) {
    case DType::Int8:
      return kInt8;
    case DType::Int16:
      return kInt16;
    case DType::UInt8:
      return kUInt8;
    case DType::UInt16:
      return kUInt16;
    default:
      return kBool;
  }
}

}  // namespace relay::interp::ops
