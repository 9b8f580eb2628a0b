#pragma once

#include "lang/type.h"

namespace relay::lang {

// What the dimension variables of `own`, the type of a definition in which they stay symbolic, are
// where it is used at `actual`. Adds to what `dims` holds already.
void match_dims(const Type& own, const Type& actual, TypeSubstitution& dims);

}  // namespace relay::lang
