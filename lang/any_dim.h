#pragma once

#include "lang/type.h"

namespace relay::lang {

// Does a tensor, or a tuple with one, have a `?` extent?
bool has_any_dim(const Type& type);

}  // namespace relay::lang
