#include "lang/checkpoint.h"

#include "lang/build.h"
#include "lang/function_fact.h"

namespace relay::lang {

AttrsRef checkpoint_attrs() { return with_fact(FunctionFact::Checkpoint); }

bool is_checkpoint(const Function& function) {
  return has_fact(function, FunctionFact::Checkpoint);
}

Expr make_checkpoint(const Expr& expr) {
  if (build::is_atom(expr)) return expr;
  const Expr thunk = make_function({}, expr->type, expr, {}, checkpoint_attrs(), expr->span,
                                   function_type({}, expr->type));
  return make_call(thunk, {}, nullptr, expr->span, expr->type);
}

}  // namespace relay::lang
