#include "opt/step_rules.h"

#include <algorithm>
#include <utility>

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

class Placed final : public lang::Rewriter {
 public:
  Placed(lang::Span place, const std::vector<Expr>& kept) : place_(place), kept_(kept) {}

 protected:
  Expr pre(const Expr& expr) override {
    return std::find(kept_.begin(), kept_.end(), expr) == kept_.end() ? Expr() : expr;
  }
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    return call && !expr->span ? lang::make_call(call->callee, call->args, call->attrs, place_,
                                                 expr->type, call->algebra)
                               : expr;
  }

 private:
  const lang::Span place_;
  const std::vector<Expr>& kept_;
};

class StepReplacer final : public lang::Rewriter {
 public:
  explicit StepReplacer(const StepRule& rule) : rule_(rule) {}

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }
  Expr post(const Expr& expr) override {
    const lang::AlgebraScope scope(lang::algebra_of(expr));
    const Expr made = rule_(expr, definitions_);
    return made ? lang::with_type(at_place(made, expr->span), expr->type) : expr;
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

std::function<void(PassProgram&, const lang::Attrs&)> replacing(StepRule rule) {
  return [rule = std::move(rule)](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      const Expr made = replace_steps(fn, rule);
      return made == fn ? fn : eliminate_dead_code(made, &program);
    });
  };
}

Expr at_place(const Expr& made, lang::Span place, const std::vector<Expr>& kept) {
  return Placed(place, kept).rewrite(made);
}

Expr with_operands(const Expr& call, std::vector<Expr> operands) {
  const auto& given = lang::cast<lang::Call>(call);
  return lang::make_call(given.callee, std::move(operands), given.attrs, call->span, call->type,
                         given.algebra);
}

Expr called_again(const Expr& step, std::vector<Expr> args, lang::AttrsRef attrs) {
  const auto& call = lang::cast<lang::Call>(step);
  const lang::OpDef& op = *operator_of(step);
  std::vector<lang::Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const lang::Type type = lang::ground_result_type(op, types, attrs, step->span);
  const Expr callee =
      lang::make_operator(&op, call.callee->span, lang::function_type(std::move(types), type));
  return lang::make_call(callee, std::move(args), std::move(attrs), step->span, type, call.algebra);
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
