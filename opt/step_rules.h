#pragma once

#include <functional>
#include <vector>

#include "lang/expr.h"
#include "lang/stop.h"
#include "opt/definitions.h"
#include "opt/pass_program.h"

// Private to the passes that replace single steps.
namespace relay::opt {

// What a step of code in A-normal form becomes; null: it stays as it is. `definitions` says what
// its operands stand for, after replacement.
using StepRule = std::function<lang::Expr(const lang::Expr& step, const Definitions& definitions)>;

// Replaces steps from the first to the last, also inside of functions, branches and index notation.
// What takes the place of a step has its type, and stands where it stood. The result need not be in
// A-normal form.
lang::Expr replace_steps(const lang::Expr& expr, const StepRule& rule);

// What a pass runs that replaces steps of each function, and drops what nobody uses then.
std::function<void(PassProgram&, const lang::Attrs&)> replacing(StepRule rule);

// What a step becomes: calls that have no place stand where it stood. What is `kept` is not looked
// into.
lang::Expr at_place(const lang::Expr& made, lang::Span place,
                    const std::vector<lang::Expr>& kept = {});
// The call with other operands, of the same types.
lang::Expr with_operands(const lang::Expr& call, std::vector<lang::Expr> operands);
// A call of the operator that `step` calls, with these arguments and attributes, and the type that
// follows from them. Throws Failure.
lang::Expr called_again(const lang::Expr& step, std::vector<lang::Expr> args, lang::AttrsRef attrs);
// The attributes, with others in the place of those of the same names.
std::vector<lang::Attr> with_attrs(const lang::AttrsRef& attrs, std::vector<lang::Attr> changed);

// What `make` gives; nothing (null) where it fails, as when an operator does not take what it is
// called with. A request to stop still ends it.
template <typename Make>
auto unless_refused(const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const lang::Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    return {};
  }
}

}  // namespace relay::opt
