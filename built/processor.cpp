#include "built/processor.h"

namespace relay::built {

std::vector<std::string> processor_features() {
  std::vector<std::string> features;
#ifdef __x86_64__
  __builtin_cpu_init();
#define RELAY_FEATURE(name) \
  if (__builtin_cpu_supports(name)) features.emplace_back(name);
  RELAY_FEATURE("sse3")
  RELAY_FEATURE("ssse3")
  RELAY_FEATURE("sse4.1")
  RELAY_FEATURE("sse4.2")
  RELAY_FEATURE("popcnt")
  RELAY_FEATURE("avx")
  RELAY_FEATURE("avx2")
  RELAY_FEATURE("bmi")
  RELAY_FEATURE("bmi2")
  RELAY_FEATURE("fma")
  RELAY_FEATURE("avx512f")
  RELAY_FEATURE("avx512bw")
  RELAY_FEATURE("avx512cd")
  RELAY_FEATURE("avx512dq")
  RELAY_FEATURE("avx512vl")
  RELAY_FEATURE("avx512vbmi")
  RELAY_FEATURE("avx512vbmi2")
  RELAY_FEATURE("avx512bitalg")
  RELAY_FEATURE("avx512vpopcntdq")
  RELAY_FEATURE("avx512ifma")
  RELAY_FEATURE("avx512vnni")
  RELAY_FEATURE("gfni")
  RELAY_FEATURE("vpclmulqdq")
  RELAY_FEATURE("fma4")
  RELAY_FEATURE("xop")
#ifndef __clang__  // which knows them only later
  RELAY_FEATURE("f16c")
  RELAY_FEATURE("lzcnt")
  RELAY_FEATURE("movbe")
  RELAY_FEATURE("vaes")
  RELAY_FEATURE("adx")
  RELAY_FEATURE("avxvnni")
  RELAY_FEATURE("avx512bf16")
  RELAY_FEATURE("avx512fp16")
#endif
#undef RELAY_FEATURE
#endif
  return features;
}

}  // namespace relay::built
