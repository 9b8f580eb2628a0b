// Which normal form goes where: contractions to products of our own, windows to oneDNN.

#include <string>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include "kernels/contraction.h"
#include "kernels/kernels.h"
#include "kernels/window.h"
#include "kernels/window_product.h"
#include "kernels/winograd.h"

namespace relay::kernels {

namespace {

using loops::Contraction;
using loops::LibraryKernel;
using loops::NormalForm;
using loops::Window;

class Library final : public loops::KernelLibrary {
 public:
  Library(Level level, bool transforms) : level_(level), transforms_(transforms) {}
  std::shared_ptr<const LibraryKernel> choose(const NormalForm& form) override {
    if (loops::products_of(form) < kFewestProducts) return nullptr;
    if (const auto* contraction = std::get_if<Contraction>(&form))
      return make_contraction(*contraction, level_);
    const Window& window = std::get<Window>(form);
    if (transforms_) {
      if (auto made = make_winograd(window, level_)) return made;
    }
    if (auto made = make_window(window)) return made;
    return make_window_product(window, level_);
  }

 private:
  Level level_;
  bool transforms_;
};

}  // namespace

extern "C" loops::KernelLibrary* relay_make_kernel_library(int level, bool transforms) {
  const Level own = cpu_level();
  const bool is_told = level >= 0 && level < static_cast<int>(own);
  return new Library(is_told ? static_cast<Level>(level) : own, transforms);
}

extern "C" const char* relay_kernels_version() {
  static const std::string text = [] {
    const dnnl_version_t& dnnl = *dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", dnnl.major, dnnl.minor, dnnl.patch);
  }();
  return text.c_str();
}

}  // namespace relay::kernels
