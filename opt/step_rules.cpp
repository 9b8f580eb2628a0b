#include "opt/step_rules.h"

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

// Calls that have no place get that of the step which they replace.
class AtStep final : public lang::Rewriter {
 public:
  explicit AtStep(lang::Span place) : place_(place) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    return call && !expr->span ? lang::make_call(call->callee, call->args, call->attrs, place_,
                                                 expr->type, call->algebra)
                               : expr;
  }

 private:
  lang::Span place_;
};

class StepReplacer final : public lang::Rewriter {
 public:
  explicit StepReplacer(const StepRule& rule) : rule_(rule) {}

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }
  Expr post(const Expr& expr) override {
    const lang::AlgebraScope scope(lang::algebra_of(expr));
    const Expr made = rule_(expr, definitions_);
    return made ? lang::with_type(AtStep(expr->span).rewrite(made), expr->type) : expr;
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> kept;
    const auto step = [&](const Expr& value) {
      Expr made = rewrite(names_.empty() ? value : lang::substitute(value, names_));
      changed = changed || !(made == value);
      return made;
    };
    for (lang::Binding& binding : opened.bindings) {
      Expr value = step(binding.value);
      if (!(value == binding.value) && value->kind == ExprKind::Var) {
        names_[binding.variable.get()] = value;
        continue;
      }
      definitions_.add(binding.variable, value);
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = step(opened.result);
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

  const StepRule& rule_;
  Definitions definitions_;
  lang::Substitution names_;
};

}  // namespace

Expr replace_steps(const Expr& expr, const StepRule& rule) {
  return StepReplacer(rule).rewrite(expr);
}

const lang::OpDef* operator_of(const Expr& expr) {
  const auto* call = as<lang::Call>(expr);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  return op ? op->op : nullptr;
}

const lang::Call* call_of(const Expr& expr, std::string_view name) {
  const lang::OpDef* op = operator_of(expr);
  return op && op->name == name ? as<lang::Call>(expr) : nullptr;
}

std::vector<lang::Attr> with_attrs(const lang::AttrsRef& attrs, std::vector<lang::Attr> changed) {
  std::vector<lang::Attr> list = attrs ? attrs->list : std::vector<lang::Attr>();
  for (lang::Attr& attr : changed) {
    std::erase_if(list, [&](const lang::Attr& each) { return each.key == attr.key; });
    list.push_back(std::move(attr));
  }
  return list;
}

}  // namespace relay::opt
