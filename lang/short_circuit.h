#pragma once

#include "lang/op.h"

namespace relay::lang {

// What `&&` and `||` of the light notation mean: `logical_and` and `logical_or`, but on scalars the
// right operand is evaluated only where the left one does not decide. The forms carry the name and
// the type rule of the operator; inference replaces them by an `if` (scalars) or the operator
// (tensors), so no later stage meets them.

// The form of a registered operator; null for operators that have none.
const OpDef* short_circuit_form(const OpDef& op);
// Whether `op` is such a form, and of which registered operator; null if it is none.
const OpDef* strict_form(const OpDef& op);
// Does `op`, a form, take its right operand only where the left one is true?
bool continues_on_true(const OpDef& op);

}  // namespace relay::lang
