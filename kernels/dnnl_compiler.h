#pragma once

#include <memory>

#include "lang/external_compiler.h"

namespace relay::kernels {

std::unique_ptr<lang::ExternalCompiler> make_dnnl_compiler();

}  // namespace relay::kernels
