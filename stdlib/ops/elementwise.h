#pragma once

#include "stdlib/ops/families.h"

// Operators of one tensor, element by element, whose definition is more than one primitive.
namespace relay::stdlib {

// A record without definition: one input `data`, whose type the result has.
OpDef elementwise(const char* name, int level, const char* doc, const char* example,
                  PrimOperands operands);
// The definition whose element is f(x[i]).
lang::OpDefinition each(std::function<Expr(const Expr& x, const DefinitionCall&)> f);

}  // namespace relay::stdlib
