// Products on any CPU.

#include <algorithm>
#include <type_traits>

#include "kernels/tiles.h"

#define RELAY_TILES_LEVEL 0
#define RELAY_TILES_TARGET

namespace relay::kernels {

namespace base {
namespace {
#include "kernels/tiles.inc"
}  // namespace
}  // namespace base

const Tiles<float>& base_float_tiles() {
  static const Tiles<float> made = base::all_tiles<float>();
  return made;
}

const Tiles<double>& base_double_tiles() {
  static const Tiles<double> made = base::all_tiles<double>();
  return made;
}

}  // namespace relay::kernels
