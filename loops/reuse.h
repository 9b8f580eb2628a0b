#pragma once

#include <span>

#include "loops/lower.h"

namespace relay::loops {

// Joins tensors that need no memory of their own: a temporary whose last reader is a kernel that
// reads it only where it stores another tensor is that tensor. Then finds for each tensor that the
// group makes an argument whose memory may hold it, when nobody else holds that argument
// (LoweredGroup::reuse): the kernel that fills the tensor reads the argument only where it writes,
// and nothing reads the argument later. What a scatter starts from is such an argument, and is not
// even copied.
void find_reuse(LoweredGroup& group, std::span<const Layout> args);

}  // namespace relay::loops
