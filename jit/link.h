#pragma once

#include <optional>

#include "jit/llvm.h"
#include "lang/code_image.h"

namespace relay::jit {

// An object file as an image; empty if it holds what an image cannot, such as variables.
std::optional<lang::CodeImage> link(llvm::MemoryBufferRef object);

}  // namespace relay::jit
