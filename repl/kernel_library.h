#pragma once

#include <memory>

#include "loops/normal_form.h"

namespace relay::repl {

// librelay_kernels.so, opened when a form is large enough for a library and not before. Takes
// nothing where the program was built without it.
class LazyKernelLibrary final : public loops::KernelLibrary {
 public:
  explicit LazyKernelLibrary(bool transforms) : transforms_(transforms) {}
  std::shared_ptr<const loops::LibraryKernel> choose(const loops::NormalForm& form) override;

 private:
  std::unique_ptr<loops::KernelLibrary> library_;
  bool transforms_;
  bool is_tried_ = false;
};

}  // namespace relay::repl
