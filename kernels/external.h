#pragma once

#include "lang/external_compiler.h"

namespace relay::kernels {

// Another entry of librelay_kernels.so: the external compiler of that name, `dnnl` or `blas`, owned
// by the caller; null for any other.
extern "C" lang::ExternalCompiler* relay_make_external_compiler(const char* name);
using MakeExternalCompiler = lang::ExternalCompiler* (*)(const char* name);
inline constexpr const char* kExternalEntryName = "relay_make_external_compiler";

}  // namespace relay::kernels
