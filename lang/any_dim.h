#pragma once

#include "lang/type.h"

namespace relay::lang {

// Does a tensor, or a tuple with one, have a `?` extent?
bool has_any_dim(const Type& type);
// Is it a tensor whose extents are all numbers, or a tuple of such?
bool has_constant_extents(const Type& type);

}  // namespace relay::lang
