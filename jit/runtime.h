#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relay::jit {

// A function that compiled kernels call, by the name they use.
struct RuntimeFunction {
  std::string name;
  std::uint64_t address;
};

// The float64 functions of loops/math_f64.h as relay_exp_f64 and so on, relay_fmod_f32 and
// relay_fmod_f64, and the powers of integers, relay_pow_i64 and relay_pow_u64
// (lang/primitives.def).
std::vector<RuntimeFunction> runtime_functions();

}  // namespace relay::jit
