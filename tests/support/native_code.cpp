#include "tests/support/native_code.h"

namespace relay::tests {

std::set<std::string> without_native_code(const interp::Statistics& statistics) {
#ifndef RELAY_HAS_JIT
  (void)statistics;
  return {};
#else
#ifdef __x86_64__
  if (!__builtin_cpu_supports("f16c")) return {};
#endif
  return statistics.kernels_fallen_back;
#endif
}

}  // namespace relay::tests
