// Products on CPUs with AVX-512.

#include <algorithm>
#include <type_traits>

#include "kernels/tiles.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define RELAY_TILES_LEVEL 512
#define RELAY_TILES_TARGET [[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]]

namespace relay::kernels {

namespace avx512 {
namespace {
#include "kernels/tiles.inc"
}  // namespace
}  // namespace avx512

const Tiles<float>& avx512_float_tiles() {
  static const Tiles<float> made = avx512::all_tiles<float>();
  return made;
}

const Tiles<double>& avx512_double_tiles() {
  static const Tiles<double> made = avx512::all_tiles<double>();
  return made;
}

}  // namespace relay::kernels

#endif
