#include <algorithm>

#include "loops/expand.h"

namespace relay::loops {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::TensorType;
using lang::Type;

bool is_concrete(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) {
      if (!is_concrete(field)) return false;
    }
    return true;
  }
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return false;
  for (const Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

Expr expand_operator(const lang::Call& call, std::vector<Expr> args, const Type& known_result) {
  const lang::OpDef& op = *lang::cast<lang::Operator>(call.callee).op;
  // Of scalars there is nothing that only running knows.
  const bool is_known = known_result && lang::is_scalar(known_result) &&
                        std::all_of(args.begin(), args.end(),
                                    [](const Expr& arg) { return lang::is_scalar(arg->type); });
  lang::AttrsRef attrs = call.attrs ? call.attrs : lang::complete_attrs(op, nullptr, call.span);
  Type result = known_result;
  if (!is_known) {
    std::vector<Type> types;
    for (const Expr& arg : args) types.push_back(arg->type);
    result = lang::ground_result_type(op, types, attrs, call.span);
  }
  return op.definition({std::move(args), std::move(attrs), std::move(result)});
}

}  // namespace relay::loops
