#include "lang/checkpoint.h"

#include "lang/build.h"

namespace relay::lang {

AttrsRef checkpoint_attrs() {
  return make_attrs({{std::string(kCheckpointAttr), std::int64_t{1}, {}}});
}

bool is_checkpoint(const Function& function) {
  return function.attrs && function.attrs->find(kCheckpointAttr) != nullptr;
}

Expr make_checkpoint(const Expr& expr) {
  if (build::is_atom(expr)) return expr;
  const Expr thunk = make_function({}, expr->type, expr, {}, checkpoint_attrs(), expr->span,
                                   function_type({}, expr->type));
  return make_call(thunk, {}, nullptr, expr->span, expr->type);
}

}  // namespace relay::lang
