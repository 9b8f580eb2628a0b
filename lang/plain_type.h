#pragma once

#include "lang/type.h"

namespace relay::lang {

// Can no value of the type hold a function or a reference, whatever its unknowns are?
bool is_plain(const Type& type);

}  // namespace relay::lang
