#pragma once

#include <memory>

#include "interp/lanes.h"
#include "loops/lower.h"

namespace relay::interp {

// Computes points of a launch of a kernel, by native code, or on lanes where there is none.
class RangeRunner {
 public:
  RangeRunner(const loops::Launch& launch, loops::KernelFunction native)
      : launch_(launch), native_(native) {
    if (native_) return;
    if (!launch.prepared)
      launch.prepared = std::make_shared<const LaneProgram>(launch.kernel, launch.sizes.data());
    lanes_ = static_cast<const LaneProgram*>(launch.prepared.get());
  }

  bool is_native() const { return native_ != nullptr; }
  // As a KernelFunction does.
  int run(void* const* buffers, std::int64_t begin, std::int64_t end,
          loops::KernelError& error) const {
    if (native_) return native_(buffers, launch_.sizes.data(), begin, end, &error);
    return lanes_->run(buffers, begin, end, &error);
  }

 private:
  const loops::Launch& launch_;
  loops::KernelFunction native_;
  const LaneProgram* lanes_ = nullptr;
};

}  // namespace relay::interp
