#pragma once

#include <memory>

#include "jit/llvm.h"

namespace relay::jit {

// What the code generator needs to know of the machine.
struct HostTraits {
  int vector_bytes = 16;   // width of the widest vectors worth using
  bool has_masks = false;  // masked loads and stores of all element sizes are single instructions
  bool has_wide_masked_loads = false;  // masked loads of 4 and 8 bytes are single instructions
  bool has_quick_gathers = false;  // to load and store elements at a stride one by one takes longer
  bool has_half = false;           // conversions between float16 and float32 are instructions
};

// A machine for this CPU, or null when LLVM has no back end for it, or does not know its name.
// Fused multiply-add is never formed: both tiers must give the same bits. The environment variable
// RELAY_JIT_CPU names an older CPU to compile for (haswell, x86-64), so that the paths for it can
// be tested here.
std::unique_ptr<llvm::TargetMachine> host_machine();
HostTraits host_traits(const llvm::TargetMachine& machine);

}  // namespace relay::jit
