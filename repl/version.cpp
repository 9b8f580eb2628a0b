#include "repl/version.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "jit/jit.h"
#include "kernels/kernels.h"

namespace relay::repl {

namespace {

// What `function` of a shared object says.
std::string answer_of(const char* object, const char* function) {
  void* const library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fmt::format("absent ({})", dlerror());
  const auto ask = reinterpret_cast<const char* (*)()>(dlsym(library, function));
  return ask ? ask() : fmt::format("absent ({} is of another version)", object);
}

}  // namespace

std::string describe_version() {
  return fmt::format(
      "relay {}\n"
      "native code:     {}\n"
      "library kernels: {}\n"
      "compiled by:     {} {}\n",
      RELAY_VERSION, answer_of("librelay_jit.so", jit::kVersionName),
      answer_of("librelay_kernels.so", kernels::kVersionName),
#if defined(__clang__)
      "Clang", __clang_version__);
#else
      "GCC", __VERSION__);
#endif
}

std::string describe_engine(interp::JitMode mode) {
#if defined(RELAY_LLVM_VERSION)
  if (mode == interp::JitMode::Off) return "interpreter only, as --jit=off says";
  return "interpreter and LLVM " RELAY_LLVM_VERSION;
#else
  static_cast<void>(mode);
  return "interpreter only, built without LLVM";
#endif
}

}  // namespace relay::repl
