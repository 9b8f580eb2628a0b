#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "opt/definitions.h"

// Private to the passes that replace single steps.
namespace relay::opt {

// What a step of code in A-normal form becomes; null: it stays as it is. `definitions` says what
// its operands stand for, after replacement.
using StepRule = std::function<lang::Expr(const lang::Expr& step, const Definitions& definitions)>;

// Replaces steps from the first to the last, also inside of functions, branches and index notation.
// What takes the place of a step has its type, and stands where it stood. The result need not be in
// A-normal form.
lang::Expr replace_steps(const lang::Expr& expr, const StepRule& rule);

// The call, if it is one of that operator; else null.
const lang::Call* call_of(const lang::Expr& expr, std::string_view name);
// The operator that it calls; null for everything else.
const lang::OpDef* operator_of(const lang::Expr& expr);
// The attributes, with others in the place of those of the same names.
std::vector<lang::Attr> with_attrs(const lang::AttrsRef& attrs, std::vector<lang::Attr> changed);

}  // namespace relay::opt
