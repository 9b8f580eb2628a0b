#include "kernels/tiles.h"

namespace relay::kernels {

const Tiles<float>& base_float_tiles();
const Tiles<double>& base_double_tiles();
const Tiles<float>& avx2_float_tiles();
const Tiles<double>& avx2_double_tiles();
const Tiles<float>& avx512_float_tiles();
const Tiles<double>& avx512_double_tiles();

Level cpu_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Level::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Level::Avx2;
#endif
  return Level::Base;
}

template <>
const Tiles<float>& tiles<float>([[maybe_unused]] Level level) {
#if defined(__x86_64__)
  if (level == Level::Avx512) return avx512_float_tiles();
  if (level == Level::Avx2) return avx2_float_tiles();
#endif
  return base_float_tiles();
}

template <>
const Tiles<double>& tiles<double>([[maybe_unused]] Level level) {
#if defined(__x86_64__)
  if (level == Level::Avx512) return avx512_double_tiles();
  if (level == Level::Avx2) return avx2_double_tiles();
#endif
  return base_double_tiles();
}

}  // namespace relay::kernels
