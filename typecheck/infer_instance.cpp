// Polymorphism below the top level: a let-bound function with written type parameters is
// instantiated anew at each use, which gets a copy of the code. A parameter has one type.

#include <fmt/format.h>

#include "lang/visit.h"
#include "typecheck/generalise.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Copies every node of which inference keeps an account of its own, and whatever stands over one.
class Copier final : public Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Literal: {
        const auto& literal = cast<Literal>(expr);
        if (literal.elements) return make_literal(literal.elements, expr->span);
        return literal.is_float ? make_literal(literal.real, expr->span)
                                : make_literal(literal.integer, expr->span);
      }
      case ExprKind::GlobalVar:
        return make_global_var(cast<GlobalVar>(expr).name, expr->span, expr->type);
      case ExprKind::Operator:
        return make_operator(cast<Operator>(expr).op, expr->span, expr->type);
      case ExprKind::ConstructorRef:
        return make_constructor_ref(cast<ConstructorRef>(expr).constructor, expr->span, expr->type);
      case ExprKind::Var:
        return make_var(cast<Var>(expr).variable, expr->span);
      case ExprKind::Tuple:
        return cast<Tuple>(expr).fields.empty() ? make_tuple({}, expr->span, expr->type) : expr;
      default:
        return expr;
    }
  }
};

// The function with variables and type parameters of its own; what it calls itself is `self`.
Expr copy_of(const Expr& function, const VariableRef& name, const VariableRef& self) {
  Substitution own;
  own.emplace(name.get(), make_var(self));
  Expr copy = rename_bound(Copier().rewrite(substitute(function, own)));
  TypeSubstitution renamed;
  std::vector<TypeVarRef> params;
  for (const TypeVarRef& var : cast<Function>(function).type_params) {
    params.push_back(TypeVar::rigid(var->kind, var->name));
    map_variable(renamed, *var, params.back());
  }
  Expr typed = substitute_types(copy, renamed);
  const auto& node = cast<Function>(typed);
  return make_function(node.params, node.result, node.body, std::move(params), node.attrs,
                       node.span, node.type);
}

}  // namespace

// The body is checked once for all types, as far as the annotations tell what they are.
void Inference::infer_polymorphic(const Let& let) {
  polymorphic_[let.variable.get()] = {let.value, {}};
  let_values_[let.variable.get()] = let.value;
  if (!is_fully_annotated(cast<Function>(let.value))) return;
  VariableRef self = make_variable(let.variable->name, nullptr, let.variable->span);
  Expr copy = copy_of(let.value, let.variable, self);
  Type declared = declare(cast<Function>(copy));
  introduce(self, declared);
  kept_.push_back(copy);
  infer_function(copy, declared);
}

Type Inference::instantiate_local(const Var& use) {
  const VariableRef& name = use.variable;
  VariableRef self = make_variable(name->name, nullptr, name->span);
  Expr copy = copy_of(polymorphic_.at(name.get()).function, name, self);
  polymorphic_.at(name.get()).instances.push_back({self, copy});
  instance_uses_[&use] = self;
  Type declared = declare_local(cast<Function>(copy));
  introduce(self, declared);
  let_values_[self.get()] = copy;
  return infer_function(copy, declared);
}

// A function that is written in its place, or is a global one, is copied, so that each copy has a
// type of its own. Any other is a value, which has one type.
Expr Inference::function_for_leaf(const Expr& function) {
  switch (function->kind) {
    case ExprKind::Function:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::Var:  // of which one with type parameters is generic too
      break;
    default:
      return function;
  }
  kept_.push_back(rename_bound(Copier().rewrite(function)));
  return kept_.back();
}

const std::vector<LocalInstance>* Inference::instances_of(const Variable* variable) const {
  if (polymorphic_.empty()) return nullptr;
  auto found = polymorphic_.find(variable);
  return found == polymorphic_.end() ? nullptr : &found->second.instances;
}

VariableRef Inference::instance_at(const ExprNode* use) const {
  if (instance_uses_.empty()) return nullptr;
  auto found = instance_uses_.find(use);
  return found == instance_uses_.end() ? nullptr : found->second;
}

// --- Parameters of polymorphic type ---

// A parameter has one type, which its uses find out.
Type Inference::declare_quantified(const FunctionType& annotation, Span span) {
  TypeSubstitution fresh;
  map_to_unknowns(fresh, annotation.quantified, solver_);
  return open(substitute(function_type(annotation.params, annotation.result), fresh), span);
}

const Variable* Inference::quantified_parameter(const Expr& callee) const {
  const auto* var = as<Var>(callee);
  if (!var || !quantified_params_.count(var->variable.get())) return nullptr;
  return var->variable.get();
}

void Inference::refuse_higher_rank(const Call& call, const Variable& param, const Type& found,
                                   const Type& expected) {
  Diagnostic diagnostic(DiagnosticKind::HigherRank,
                        fmt::format("parameter `{}` is used at two types, `{}` and `{}`",
                                    param.name, solver_.show(expected), solver_.show(found)),
                        call.span);
  diagnostic.label(param.span, fmt::format("declared as `{}`, and a parameter has one type",
                                           to_string(param.type)));
  diagnostic.note(
      fmt::format("help: take one parameter for each type, or make `{}` a `def`, which is generic",
                  param.name));
  throw Failure(std::move(diagnostic));
}

}  // namespace relay::typecheck
