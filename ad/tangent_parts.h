#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// The mark of functions that stand for a piece of the code that calls them.
lang::AttrsRef inline_mark();
// Is this `()`, the tangent type of what has no derivative?
bool is_unit(const lang::Type& type);
// The constructor Zero of a mirror.
lang::Expr mirror_zero(const lang::Type& mirror);
// Field `index` of a tuple or record.
lang::Expr part_of(const lang::Expr& primal, std::uint32_t index);
// Can zeros of the tangent only be made where the primal is at hand?
bool needs_primal(const lang::Type& tangent);
// Zeros of a tangent type; `primal` gives the shape where dims are symbolic.
lang::Expr zero_of(const lang::Type& tangent, const lang::Expr& primal);

// The tensors and data that a tangent is made of, in order: their types, a tangent made of
// variables of these types from `next` on, and the parts of a tangent.
void append_leaves(const lang::Type& tangent, std::vector<lang::Type>& leaves);
lang::Expr packed(const lang::Type& tangent, const std::vector<lang::VariableRef>& leaves,
                  std::size_t& next);
void append_parts(const lang::Expr& tangent, std::vector<lang::Expr>& parts);

// A use of each variable.
std::vector<lang::Expr> uses_of(const std::vector<lang::VariableRef>& variables);
// A call of a constructor, or the constructor itself where it has no fields.
lang::Expr construct(const lang::Constructor* constructor, std::vector<lang::Expr> fields,
                     const lang::Type& type);
lang::Expr call_global(const std::string& name, const lang::Type& type,
                       std::vector<lang::Expr> args);
// A generated data type, whose parameters are dims, at these.
lang::Type own_type(const lang::TypeDef& def);
const lang::Constructor* add_constructor(lang::TypeDef& def, std::string name,
                                         std::vector<lang::Type> fields);

}  // namespace relay::ad
