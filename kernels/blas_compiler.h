#pragma once

#include <memory>

#include "lang/external_compiler.h"

namespace relay::kernels {

std::unique_ptr<lang::ExternalCompiler> make_blas_compiler();

}  // namespace relay::kernels
