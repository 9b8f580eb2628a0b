#include "interp/runtime_functions.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "loops/math_f64.h"

namespace relay::interp {

namespace {

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

std::uint64_t pow_u64(std::uint64_t base, std::uint64_t exponent) { return power(base, exponent); }

std::int64_t pow_i64(std::int64_t base, std::int64_t exponent) {
  if (exponent >= 0) {
    return static_cast<std::int64_t>(
        power(static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(exponent)));
  }
  if (base == 1) return 1;
  if (base == -1) return (exponent & 1) != 0 ? -1 : 1;
  return 0;
}

float fmod_f32(float a, float b) { return std::fmod(a, b); }
double fmod_f64(double a, double b) { return std::fmod(a, b); }

template <class Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

using Addresses = std::unordered_map<std::string, const void*>;

Addresses own_functions() {
  Addresses functions = {
      {"relay_pow_u64", address_of(&pow_u64)},
      {"relay_pow_i64", address_of(&pow_i64)},
      {"relay_fmod_f32", address_of(&fmod_f32)},
      {"relay_fmod_f64", address_of(&fmod_f64)},
  };
  for (const auto& math : loops::math_f64::functions()) {
    functions["relay_" + std::string(math.name) + "_f64"] =
        math.unary != nullptr ? address_of(math.unary) : address_of(math.binary);
  }
  return functions;
}

}  // namespace

const void* runtime_function(const std::string& name) {
  static const Addresses functions = own_functions();
  const auto found = functions.find(name);
  return found != functions.end() ? found->second : dlsym(RTLD_DEFAULT, name.c_str());
}

}  // namespace relay::interp
