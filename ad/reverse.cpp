#include "ad/reverse.h"

#include <unordered_map>

#include <fmt/format.h>

#include "ad/block.h"
#include "ad/pairs.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
namespace build = lang::build;

namespace {

// fn (params) { (value, gradients) } or, for mode Grad, just the gradients.
Expr derivative(const lang::Function& given, lang::DiffMode mode, lang::Program& program,
                Pairs& pairs) {
  const Expr copy = lang::rename_bound(program.inlined(Expr(&given)));
  const auto& fn = lang::cast<lang::Function>(copy);
  const auto* result = as<lang::TensorType>(fn.body->type);
  if (!result || result->shape.rank() != 0 || !lang::is_float(result->dtype.known())) {
    lang::fail(
        DiagnosticKind::NotDifferentiable,
        fmt::format("`{}` needs a function whose result is a float scalar, this one's is `{}`",
                    name_of(mode), lang::to_string(fn.body->type)),
        given.span);
  }
  BlockReverse reverse(program, pairs);
  const lang::Block block = lang::open_block(fn.body);
  reverse.forward(block.bindings);
  const Expr value = reverse.forward_value("value", block.result);
  reverse.seed(value, build::constant(result->dtype.known(), 1));
  reverse.reverse();
  std::vector<Expr> gradients;
  for (const auto& param : fn.params) {
    const Expr primal = lang::make_var(param);
    const Type tangent = pairs.tangents().of(param->type);
    if (!tangent) {
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: the gradient of an argument of type `{}`",
                             lang::to_string(param->type)),
                 param->span);
    }
    const Expr adjoint = is_unit(tangent) ? build::tuple({}) : reverse.adjoint_of(param);
    gradients.push_back(pairs.tangents().as_gradient(adjoint, primal));
  }
  Expr gradient = gradients.size() == 1 ? gradients[0] : build::tuple(gradients);
  if (mode == lang::DiffMode::ValueAndGrad) gradient = build::tuple({value, gradient});
  std::vector<lang::Binding> bindings = reverse.primal(0);
  for (auto& binding : reverse.backward().take()) bindings.push_back(std::move(binding));
  const Expr body = lang::close_block({std::move(bindings), gradient});
  return lang::rename_bound(
      lang::make_function(fn.params, body->type, body, {}, nullptr, given.span));
}

class Expander final : public lang::Rewriter {
 public:
  Expander(lang::Program& program, Pairs& pairs) : program_(program), pairs_(pairs) {}

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    for (auto& binding : opened.bindings) {
      Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      if (value->kind == ExprKind::Function || value->kind == ExprKind::GlobalVar ||
          value->kind == ExprKind::Operator) {
        functions_[binding.variable.get()] = value;
      }
      binding.value = std::move(value);
    }
    Expr result = rewrite(opened.result);
    if (!changed && result == opened.result) return expr;
    opened.result = std::move(result);
    return lang::close_block(opened);
  }

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }

  Expr post(const Expr& expr) override {
    const auto* node = as<lang::Differentiate>(expr);
    if (!node) return expr;
    const Expr fn = known_function(node->fn, expr->span);
    return derivative(lang::cast<lang::Function>(fn), node->mode, program_, pairs_);
  }

 private:
  Expr known_function(const Expr& fn, lang::Span span) {
    if (fn->kind == ExprKind::Function) return fn;
    if (const auto* var = as<lang::Var>(fn)) {
      if (const auto found = functions_.find(var->variable.get()); found != functions_.end())
        return known_function(found->second, span);
    }
    if (const auto* global = as<lang::GlobalVar>(fn);
        global && program_.is_function(global->name)) {
      const Expr function = program_.function(global->name, fn->type);
      const auto& known = lang::cast<lang::Function>(function);
      if (!lang::gradient_of(known)) return function;
      std::vector<std::string> names;
      for (const auto& param : known.params) names.push_back(param->name);
      return eta_expanded(fn, names, nullptr, span);
    }
    const auto* type = as<lang::FunctionType>(fn->type);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < type->params.size(); ++i) names.push_back(fmt::format("x{}", i));
    const auto* op = as<lang::Operator>(fn);
    return eta_expanded(
        fn, names, op ? lang::complete_attrs(*op->op, nullptr, fn->span) : lang::AttrsRef(), span);
  }

  // fn (x...) { f(x...) }: differentiating the call finds out what `f` is.
  static Expr eta_expanded(const Expr& fn, const std::vector<std::string>& names,
                           const lang::AttrsRef& attrs, lang::Span span) {
    const auto* type = as<lang::FunctionType>(fn->type);
    std::vector<lang::VariableRef> params;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < type->params.size(); ++i) {
      params.push_back(lang::make_variable(names[i], type->params[i]));
      args.push_back(lang::make_var(params.back()));
    }
    const Expr body = lang::make_call(fn, args, attrs, fn->span ? fn->span : span, type->result);
    return lang::make_function(params, type->result, body, {}, nullptr, fn->span, fn->type);
  }

  lang::Program& program_;
  Pairs& pairs_;
  std::unordered_map<const lang::Variable*, Expr> functions_;
};

}  // namespace

lang::Result<Expr> expand_derivatives(const Expr& expr, lang::Program& program, Pairs& pairs) {
  bool needed = false;
  lang::visit_post_order(
      expr, [&](const Expr& node) { needed = needed || node->kind == ExprKind::Differentiate; });
  if (!needed) return expr;
  return lang::capture([&] { return Expander(program, pairs).block(expr); });
}

}  // namespace relay::ad
