// Products on CPUs with AVX2.

#include <algorithm>
#include <type_traits>

#include "kernels/tiles.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define RELAY_TILES_LEVEL 2
#define RELAY_TILES_TARGET [[gnu::target("avx2,fma")]]

namespace relay::kernels {

namespace avx2 {
namespace {
#include "kernels/tiles.inc"
}  // namespace
}  // namespace avx2

const Tiles<float>& avx2_float_tiles() {
  static const Tiles<float> made = avx2::all_tiles<float>();
  return made;
}

const Tiles<double>& avx2_double_tiles() {
  static const Tiles<double> made = avx2::all_tiles<double>();
  return made;
}

}  // namespace relay::kernels

#endif
