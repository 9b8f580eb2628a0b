#pragma once

// Scalar code with fused multiply-adds: one instruction where the CPU has it, a call of the C
// library where it does not. Functions come in two forms, of which the first is compiled for such a
// CPU.
namespace relay::loops {

#if defined(__x86_64__) && defined(__GNUC__)
#define RELAY_FUSED [[gnu::flatten, gnu::target("fma")]]
inline bool cpu_fuses() {
  static const bool fuses = __builtin_cpu_supports("fma");
  return fuses;
}
#else  // others have it or not, whatever is asked for
#define RELAY_FUSED [[gnu::flatten]]
inline bool cpu_fuses() { return true; }
#endif

}  // namespace relay::loops
