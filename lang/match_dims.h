#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "lang/type.h"

namespace relay::lang {

// `dim` over an integer other than 0, if that leaves nothing over, whatever its variables are.
std::optional<Dim> divided_evenly(const Dim& dim, std::int64_t divisor);

// The one term of `dim` that holds variables which are not known, where it is one of them with an
// integer for a factor: an equation can be solved for it. Null for none, for several, and for
// others.
const Dim::Term* sole_unknown(const Dim& dim,
                              const std::function<bool(const TypeVarRef&)>& is_known);

// What the dimension variables of `own`, the type of a definition in which they stay symbolic, are
// where it is used at `actual`. Adds to what `dims` holds already.
void match_dims(const Type& own, const Type& actual, TypeSubstitution& dims);

}  // namespace relay::lang
