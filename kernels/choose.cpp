// Which normal form goes to which library: matrix products to OpenBLAS, large ones in float32 to
// oneDNN, windows to oneDNN.

#include "kernels/contraction.h"
#include "kernels/kernels.h"
#include "kernels/window.h"

namespace relay::kernels {

namespace {

using loops::Contraction;
using loops::LibraryKernel;
using loops::NormalForm;
using loops::Window;

class Library final : public loops::KernelLibrary {
 public:
  std::shared_ptr<const LibraryKernel> choose(const NormalForm& form) override {
    if (loops::products_of(form) < kFewestProducts) return nullptr;
    if (const auto* contraction = std::get_if<Contraction>(&form))
      return make_contraction(*contraction);
    return make_window(std::get<Window>(form));
  }
};

}  // namespace

extern "C" loops::KernelLibrary* relay_make_kernel_library() { return new Library; }

}  // namespace relay::kernels
