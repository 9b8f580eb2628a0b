#pragma once

#include <memory>

#include "flow/layout.h"
#include "flow/native.h"
#include "loops/loop_ir.h"

namespace relay::jit {

// The entry of librelay_jit.so, found by dlsym under this name. Returns a compiler for this host's
// CPU, owned by the caller, or null if LLVM could not be initialised.
extern "C" loops::KernelCompiler* relay_make_kernel_compiler();
using MakeKernelCompiler = loops::KernelCompiler* (*)();
inline constexpr const char* kEntryName = "relay_make_kernel_compiler";

// The same for functions. `services` and `layout` are the program's, and outlive the compiler.
extern "C" flow::FunctionCompiler* relay_make_function_compiler(const flow::Services* services,
                                                                const flow::Layout* layout);
using MakeFunctionCompiler = flow::FunctionCompiler* (*)(const flow::Services*,
                                                         const flow::Layout*);
inline constexpr const char* kFunctionEntryName = "relay_make_function_compiler";

// Another entry: the library that compiles and its version, as in "LLVM 19.1.7". Lives forever.
extern "C" const char* relay_jit_version();
inline constexpr const char* kVersionName = "relay_jit_version";

}  // namespace relay::jit
