#pragma once

#include "lang/expr.h"

namespace relay::lang {

// A call of an operator with a static form (OpDef::static_form), as a call of that form: the inputs
// that are attributes are constants. Untyped. Throws Unsupported where one of them is none.
Expr static_call(const Call& call);

}  // namespace relay::lang
