#include "lang/border.h"

#include <unordered_map>
#include <unordered_set>

#include "lang/function_fact.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

// People may write the attribute at functions that do more.
bool is_border(const Expr& callee) {
  const auto* fn = as<Function>(callee);
  if (!fn || !has_fact(*fn, FunctionFact::StopFusion) || fn->params.size() != 1) return false;
  const auto* body = as<Var>(fn->body);
  return body && body->variable == fn->params[0];
}

bool has_border(const Expr& root) {
  bool has = false;
  visit_post_order(root, [&](const Expr& node) { has = has || is_border(node); });
  return has;
}

class Remover final : public Rewriter {
 public:
  explicit Remover(const Expr& root) {
    std::unordered_set<const Variable*> named;
    std::unordered_map<const Variable*, int> values;  // uses that are no calls
    const auto variable = [](const Expr& expr) {
      const auto* var = as<Var>(expr);
      return var ? var->variable.get() : nullptr;
    };
    visit_post_order(root, [&](const Expr& node) {
      const auto* let = as<Let>(node);
      if (let && is_border(let->value)) named.insert(let->variable.get());
      for_each_child(node, [&](const Expr& child) { ++values[variable(child)]; });
      if (const auto* call = as<Call>(node)) --values[variable(call->callee)];
    });
    for (const Variable* each : named) {
      if (values[each] == 0) called_.insert(each);
    }
  }

 protected:
  Expr post(const Expr& expr) override {
    if (const auto* let = as<Let>(expr))
      return called_.contains(let->variable.get()) ? let->body : expr;
    const auto* call = as<Call>(expr);
    if (!call) return expr;
    const auto* var = as<Var>(call->callee);
    const bool is_removed =
        is_border(call->callee) || (var && called_.contains(var->variable.get()));
    return is_removed ? call->args[0] : expr;
  }

 private:
  std::unordered_set<const Variable*> called_;
};

}  // namespace

Expr make_border(const Expr& expr) {
  const VariableRef x = make_variable("x", expr->type);
  const Expr identity =
      make_function({x}, expr->type, make_var(x), {}, with_fact(FunctionFact::StopFusion),
                    expr->span, function_type({expr->type}, expr->type));
  return make_call(identity, {expr}, nullptr, expr->span, expr->type);
}

Expr without_borders(const Expr& expr) {
  return has_border(expr) ? Remover(expr).rewrite(expr) : expr;
}

}  // namespace relay::lang
