#pragma once

#include <memory>

#include "loops/loop_ir.h"

namespace relay::jit {

// The entry of librelay_jit.so, found by dlsym under this name. Returns a compiler for this host's
// CPU, owned by the caller, or null if LLVM could not be initialised.
extern "C" loops::KernelCompiler* relay_make_kernel_compiler();
using MakeKernelCompiler = loops::KernelCompiler* (*)();
inline constexpr const char* kEntryName = "relay_make_kernel_compiler";

}  // namespace relay::jit
