#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/op.h"

// Forms of the core whose type depends on how much is known about an operand are relations too, so
// that they wait, and are generalised, just as operators are. These records are in no registry.
namespace relay::typecheck {

// projection(tuple; index) = field
const lang::OpDef& projection_rule();
// index(tensor, axes) = element: `axes` is Tensor[(extents of the indexed axes), int64]
const lang::OpDef& index_rule();
// comprehension(extents, body) = result: `extents` as `axes` above
const lang::OpDef& comprehension_rule();

bool is_core_rule(const lang::OpDef& op);
// `Tensor[s, d][n] = A` and the like: a relation with one of these rules as text.
std::string core_rule_text(const lang::OpDef& op, const std::vector<std::string>& args,
                           const lang::AttrsRef& attrs);

}  // namespace relay::typecheck
