#include "ad/active_variables.h"

#include <algorithm>

#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;

void ActiveVariables::deactivate(const lang::PatternRef& pattern) {
  if (pattern->variable) deactivate(pattern->variable);
  for (const auto& field : pattern->fields) deactivate(field);
}

bool ActiveVariables::is_active(const lang::VariableRef& variable) const {
  if (inactive_.count(variable.get()) != 0) return false;
  return !as<lang::TensorType>(variable->type) || !is_unit(tangents_->or_unit(variable->type));
}

bool ActiveVariables::reads_active(const Expr& expr) const {
  if (const auto* var = as<lang::Var>(expr)) return is_active(var->variable);
  const auto free = lang::free_variables(expr);
  return std::any_of(free.begin(), free.end(),
                     [&](const lang::VariableRef& variable) { return is_active(variable); });
}

namespace {

// A call of an operator through which no derivative goes.
bool stops_derivatives(const Expr& value) {
  const auto* call = as<lang::Call>(value);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  return op && !op->op->differentiable && op->op->effect == lang::Effect::None;
}

}  // namespace

bool ActiveVariables::bind(const lang::VariableRef& variable, const Expr& value) {
  const bool has_tangent = !is_unit(tangents_->or_unit(value->type));
  if (has_tangent && !stops_derivatives(value) && (reads_active(value) || use_->in(value)))
    return true;
  deactivate(variable);
  return false;
}

namespace {

class SelfCalls {
 public:
  SelfCalls(const lang::Function& function, const std::string& name, const Type& type,
            std::vector<bool> wanted, Tangents& tangents, ReferenceUse& use)
      : function_(function),
        name_(name),
        type_(type),
        tangents_(tangents),
        use_(use),
        active_(std::move(wanted)) {}

  std::vector<bool> run() {
    do {
      has_grown_ = false;
      ActiveVariables activity(tangents_, use_);
      for (std::size_t i = 0; i < active_.size(); ++i) {
        if (!active_[i]) activity.deactivate(function_.params[i]);
      }
      walk(function_.body, activity);
    } while (has_grown_);
    return std::move(active_);
  }

 private:
  void walk(const Expr& whole, ActiveVariables& activity) {
    const Expr* expr = &whole;
    while (const auto* let = as<lang::Let>(*expr)) {
      walk(let->value, activity);
      activity.bind(let->variable, let->value);
      expr = &let->body;
    }
    if (const auto* branch = as<lang::If>(*expr)) {
      walk(branch->then_branch, activity);
      walk(branch->else_branch, activity);
    } else if (const auto* match = as<lang::Match>(*expr)) {
      for (const auto& clause : match->clauses) {
        if (!activity.reads_active(match->scrutinee)) activity.deactivate(clause.pattern);
        walk(clause.body, activity);
      }
    } else if (const auto* call = as<lang::Call>(*expr)) {
      note(*call, &activity);
    } else {
      // Inside function values and index notation nothing is known of the arguments.
      lang::visit_post_order(*expr, [&](const Expr& node) {
        if (const auto* inner = as<lang::Call>(node)) note(*inner, nullptr);
      });
    }
  }

  void note(const lang::Call& call, const ActiveVariables* activity) {
    const auto* global = as<lang::GlobalVar>(call.callee);
    if (!global || global->name != name_ || !lang::equal(global->type, type_)) return;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (active_[i] || is_unit(tangents_.or_unit(call.args[i]->type))) continue;
      if (activity && !activity->reads_active(call.args[i])) continue;
      active_[i] = true;
      has_grown_ = true;
    }
  }

  const lang::Function& function_;
  const std::string& name_;
  const Type& type_;
  Tangents& tangents_;
  ReferenceUse& use_;
  std::vector<bool> active_;
  bool has_grown_ = false;
};

}  // namespace

std::vector<bool> active_params(const lang::Function& function, const std::string& name,
                                const Type& type, std::vector<bool> wanted, Tangents& tangents,
                                ReferenceUse& use) {
  return SelfCalls(function, name, type, std::move(wanted), tangents, use).run();
}

}  // namespace relay::ad
