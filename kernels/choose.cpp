// Which normal form goes to which library: matrix products to OpenBLAS, large ones in float32 to
// oneDNN, windows to oneDNN.

#include <cblas.h>

#include <string>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

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

extern "C" const char* relay_kernels_version() {
  static const std::string text = [] {
    const dnnl_version_t& dnnl = *dnnl_version();
    // It says more about itself: how it was built, the kind of CPU.
    const std::string blas = openblas_get_config();
    const std::size_t first_blank = blas.find(' ');
    const std::size_t end = blas.find(' ', first_blank == std::string::npos ? 0 : first_blank + 1);
    return fmt::format("oneDNN {}.{}.{}, {}", dnnl.major, dnnl.minor, dnnl.patch,
                       blas.substr(0, end));
  }();
  return text.c_str();
}

}  // namespace relay::kernels
