#include "opt/may_fail.h"

#include <algorithm>

#include "lang/any_dim.h"
#include "lang/lowerable.h"
#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::ExprKind;

namespace {

std::int64_t least(const lang::Dim& dim) { return dim.is_constant() ? dim.constant() : 0; }

}  // namespace

void PureFailures::define(const lang::VariableRef& variable, const Expr& value) {
  values_[variable.get()] = value;
}

// None: nothing is known.
std::optional<std::int64_t> PureFailures::least(const Expr& extent) const {
  if (const auto* constant = as<lang::Constant>(extent))
    return lang::int_from_bits(constant->value->dtype(), constant->value->bits_at(0));
  if (const auto* term = as<lang::DimTerm>(extent)) return opt::least(term->dim);
  if (const auto* var = as<lang::Var>(extent)) {
    const Expr* value = values_.find(var->variable.get());
    return value ? least(*value) : std::nullopt;
  }
  const auto* call = call_of(extent, known::dim_of);
  if (!call) return std::nullopt;
  const auto* tensor = as<lang::TensorType>(call->args[0]->type);
  if (!tensor || !tensor->shape.has_rank()) return 0;
  const lang::Dim* dim = dim_read(call->args[0]->type, *call->attrs);
  return dim ? std::optional(opt::least(*dim)) : std::nullopt;
}

bool PureFailures::has_points(const std::vector<lang::IndexBinder>& binders) const {
  return std::all_of(binders.begin(), binders.end(), [this](const lang::IndexBinder& binder) {
    return least(binder.extent).value_or(0) > 0;
  });
}

bool PureFailures::may_be_negative(const std::vector<lang::IndexBinder>& binders) const {
  return std::any_of(binders.begin(), binders.end(), [this](const lang::IndexBinder& binder) {
    return least(binder.extent).value_or(-1) < 0;
  });
}

bool PureFailures::may_fail(const Expr& expr) {
  if (lang::is_leaf(expr)) return false;
  if (const auto found = known_.find(expr.get()); found != known_.end()) return found->second;
  const bool result = fresh(expr);
  known_.emplace(expr.get(), result);
  return result;
}

bool PureFailures::any(const std::vector<Expr>& exprs) {
  return std::any_of(exprs.begin(), exprs.end(),
                     [this](const Expr& each) { return may_fail(each); });
}

bool PureFailures::fresh(const Expr& root) {
  const Expr* at = &root;
  while (const auto* let = as<lang::Let>(*at)) {
    define(let->variable, let->value);
    if (may_fail(let->value)) return true;
    at = &let->body;
  }
  const Expr& expr = *at;
  if (counted_ == Counted::All && lang::has_any_dim(expr->type)) return true;
  switch (expr->kind) {
    case ExprKind::Function:
      return false;
    case ExprKind::Index:
      if (!cast<lang::Index>(expr).in_bounds) return true;
      break;
    case ExprKind::Primitive: {
      const auto& node = cast<lang::Primitive>(expr);
      if (lang::may_divide_by_zero(node.prim, node.args)) return true;
      break;
    }
    case ExprKind::Call:
      if (fails_in_call(cast<lang::Call>(expr))) return true;
      break;
    case ExprKind::Comprehension:
      if (may_be_negative(cast<lang::Comprehension>(expr).binders)) return true;
      break;
    case ExprKind::Reduction: {
      const auto& reduction = cast<lang::Reduction>(expr);
      if (may_be_negative(reduction.binders) || folds_nothing(reduction)) return true;
      break;
    }
    case ExprKind::ScatterReduce:
      return true;
    default:
      break;
  }
  bool found = false;
  lang::for_each_child(expr, [&](const Expr& child) { found = found || may_fail(child); });
  return found;
}

// Has it no value where there are no points?
bool PureFailures::folds_nothing(const lang::Reduction& reduction) const {
  if (counted_ == Counted::Usual) return false;
  switch (reduction.op) {
    case lang::ReduceOp::Max:
    case lang::ReduceOp::Min:
    case lang::ReduceOp::ArgMax:
    case lang::ReduceOp::ArgMin:
      return !has_points(reduction.binders);
    default:
      return false;
  }
}

bool PureFailures::fails_in_call(const lang::Call& call) {
  const auto* callee = as<lang::Operator>(call.callee);
  if (!callee) return call.callee->kind != ExprKind::ConstructorRef;
  const lang::OpDef& op = *callee->op;
  if (known::dim_of.is(op)) return false;
  if (op.elementwise) return lang::may_divide_by_zero(*op.elementwise, call.args);
  if (op.effect != lang::Effect::None || op.primitive != lang::TensorPrimitive::None) return false;
  const auto* result = as<lang::TensorType>(call.type);
  const bool may_divide = result && result->dtype.is_known() &&
                          lang::is_int(result->dtype.known()) && call.args.size() == 2;
  if (op.nests) return may_divide;
  const Expr body = lang::definition_of(call);
  if (!body) return true;
  keep_.push_back(body);  // which may move, as what this calls is looked into
  return may_fail(body);
}

}  // namespace relay::opt
