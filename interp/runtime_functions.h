#pragma once

#include <string>

namespace relay::interp {

// The address of a function that native code calls by its name, or null. These are the float64
// functions of loops/math_f64.h as relay_exp_f64 and so on, relay_fmod_f32 and relay_fmod_f64, the
// powers of integers, relay_pow_i64 and relay_pow_u64 (lang/primitives.def), and what a code
// generator calls by itself: memcpy, memset, floorf without SSE 4.1.
const void* runtime_function(const std::string& name);

}  // namespace relay::interp
