#include "kernels/external.h"

#include <string_view>

#include "kernels/blas_compiler.h"
#include "kernels/dnnl_compiler.h"

namespace relay::kernels {

extern "C" lang::ExternalCompiler* relay_make_external_compiler(const char* name) {
  const std::string_view wanted(name);
  if (wanted == "dnnl") return make_dnnl_compiler().release();
  if (wanted == "blas") return make_blas_compiler().release();
  return nullptr;
}

}  // namespace relay::kernels
