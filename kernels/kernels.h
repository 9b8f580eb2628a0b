#pragma once

#include "loops/normal_form.h"

namespace relay::kernels {

// The entry of librelay_kernels.so, found by dlsym under this name. Returns products of our own and
// oneDNN as a library of kernels for this host's CPU, owned by the caller. `level` names an older
// CPU (kernels/tiles.h); -1: this one. With `transforms`, windows may be computed by
// Winograd's transforms.
extern "C" loops::KernelLibrary* relay_make_kernel_library(int level, bool transforms);
using MakeKernelLibrary = loops::KernelLibrary* (*)(int level, bool transforms);
inline constexpr const char* kEntryName = "relay_make_kernel_library";

// Another entry: the libraries that are loaded and their versions. Lives forever.
extern "C" const char* relay_kernels_version();
inline constexpr const char* kVersionName = "relay_kernels_version";

// Smaller forms stay with the loops, whose nest is over before a library has looked at its
// arguments; nothing needs to be loaded to know that.
inline constexpr double kFewestProducts = 32768;

}  // namespace relay::kernels
