#pragma once

#include <cstdint>
#include <memory>

#include "loops/loop_ir.h"

namespace relay::interp {

// A kernel prepared to run without a compiler: each instruction is a loop over a chunk of lanes.
// Lanes are points of the trailing domain axes, or, where there are few of those, elements of a
// reduction; which, is chosen for the sizes at hand. Gives the bits that loops/loop_ir.h
// prescribes.
class LaneProgram {
 public:
  // Needs: a kernel that loops::verify accepts; `sizes` has its slots. Cost: microseconds.
  LaneProgram(const loops::Kernel& kernel, const std::int64_t* sizes);
  ~LaneProgram();
  // As loops::KernelFunction: points [begin, end) of domain axis 0. Of several errors reports the
  // first in row-major order. Safe to call from several threads for disjoint ranges when the kernel
  // assigns.
  int run(void* const* buffers, std::int64_t begin, std::int64_t end,
          loops::KernelError* error) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// Prepares and runs.
int run_lanes(const loops::Kernel& kernel, void* const* buffers, const std::int64_t* sizes,
              std::int64_t begin, std::int64_t end, loops::KernelError* error);

}  // namespace relay::interp
