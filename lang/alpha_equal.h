#pragma once

#include <cstddef>

#include "lang/expr.h"

namespace relay::lang {

// Equal up to renaming of bound variables; spans, names and inferred types are ignored, annotations
// of parameters count, sharing counts (one node used twice is not two equal nodes; constants and ()
// exempt). Free variables are equal by identity, or, with `map_free`, by a consistent renaming.
bool alpha_equal(const Expr& a, const Expr& b, bool map_free = false);

// Equal expressions (in the sense above without `map_free`, sharing ignored) have equal hashes.
std::size_t structural_hash(const Expr& expr);

}  // namespace relay::lang
