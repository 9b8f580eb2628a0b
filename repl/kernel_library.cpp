#include "repl/kernel_library.h"

#include <dlfcn.h>

#include "kernels/kernels.h"
#include "lang/memory.h"

namespace relay::repl {

std::shared_ptr<const loops::LibraryKernel> LazyKernelLibrary::choose(
    const loops::NormalForm& form) {
  if (loops::products_of(form) < kernels::kFewestProducts) return nullptr;
  if (!is_tried_) {
    is_tried_ = true;
    const lang::Unfailing loading;
    // Never unloaded: the libraries behind it keep threads and state.
    void* const object = dlopen("librelay_kernels.so", RTLD_NOW | RTLD_LOCAL);
    const auto make =
        object ? reinterpret_cast<kernels::MakeKernelLibrary>(dlsym(object, kernels::kEntryName))
               : nullptr;
    if (make) library_.reset(make(-1, transforms_));
  }
  return library_ ? library_->choose(form) : nullptr;
}

}  // namespace relay::repl
