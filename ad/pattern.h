#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ad/tangent.h"
#include "lang/expr.h"

namespace relay::ad {

// The types of the parts that a constructor or tuple pattern takes a value of `type` apart into.
std::vector<lang::Type> parts_of(const lang::PatternRef& pattern, const lang::Type& type);

// The pattern with variables for those wildcards whose zeros can only be made where the primal is
// at hand.
lang::PatternRef with_variables(const lang::PatternRef& pattern, const lang::Type& type,
                                Tangents& tangents);

// Does every value of the type match?
bool is_irrefutable(const lang::PatternRef& pattern, const lang::Type& type, Tangents& tangents);
// The place of the one field that `match (p) { C(_, w, _) => w }` reads; nothing for any other.
std::optional<std::uint32_t> field_read(const lang::Match& match);

}  // namespace relay::ad
