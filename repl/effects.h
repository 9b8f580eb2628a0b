#pragma once

#include "lang/module.h"

namespace relay::repl {

// Does evaluating the expression (parsed, not typed) do what a second evaluation would do again:
// print, write a file, change a reference that a top-level binding holds?
bool has_visible_effect(const lang::Expr& expr, const lang::Module& module);
// Does it use a reference that a top-level binding holds?
bool uses_reference(const lang::Expr& expr, const lang::Module& module);

}  // namespace relay::repl
