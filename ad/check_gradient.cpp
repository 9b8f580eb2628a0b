#include "ad/check_gradient.h"

#include "lang/build.h"

namespace relay::ad {

using lang::Expr;
namespace build = lang::build;

namespace {

const lang::OpDef& check_operator() {
  static const lang::OpDef kOperator = [] {
    lang::OpDef op;
    op.name = "check_gradient";
    op.doc = "Does a gradient agree with central differences?";
    op.level = 0;
    op.inputs = {{"function", "the function"},
                 {"args", "where: the tuple of its arguments"},
                 {"gradients", "the gradients there"}};
    op.attrs = {{"names", lang::AttrKind::Any, std::nullopt, "of the parameters"}};
    op.type_rule = [](lang::TypeCall& call) {
      call.returns(lang::scalar_type(lang::DType::Bool));
      return lang::RuleOutcome::Solved;
    };
    op.effect = lang::Effect::CheckGradient;
    op.differentiable = false;
    return op;
  }();
  return kOperator;
}

}  // namespace

Expr check_gradient(const Expr& function, const std::vector<Expr>& args,
                    const std::vector<Expr>& gradients, const std::vector<std::string>& names,
                    lang::Span span) {
  const Expr point = build::tuple(args);
  const Expr gradient = build::tuple(gradients);
  const lang::Type result = lang::scalar_type(lang::DType::Bool);
  lang::AttrValue::List list(names.begin(), names.end());
  const Expr callee = lang::make_operator(
      &check_operator(), span,
      lang::function_type({function->type, point->type, gradient->type}, result));
  return lang::make_call(callee, {function, point, gradient},
                         lang::make_attrs({{"names", lang::AttrValue(std::move(list)), {}}}), span,
                         result);
}

}  // namespace relay::ad
