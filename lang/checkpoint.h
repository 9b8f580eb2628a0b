#pragma once

#include "lang/expr.h"

namespace relay::lang {

// The attribute of a function of whose calls a derivative keeps the arguments only: what the body
// computes on the way is computed again in reverse. Such functions are not inlined, so that the
// second computation is not merged with the first.
AttrsRef checkpoint_attrs();
bool is_checkpoint(const Function& function);
// `annotation.checkpoint(e)` in the core: fn (Checkpoint=1) { e }, called on the spot. An atom
// stays what it is.
Expr make_checkpoint(const Expr& expr);

}  // namespace relay::lang
