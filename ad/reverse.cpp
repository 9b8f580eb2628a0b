#include "ad/reverse.h"

#include <unordered_map>

#include <fmt/format.h>

#include "ad/block.h"
#include "ad/check_gradient.h"
#include "ad/flow.h"
#include "ad/forward.h"
#include "ad/jacobian.h"
#include "ad/linear_transpose.h"
#include "ad/linearize.h"
#include "ad/pairs.h"
#include "ad/way.h"
#include "lang/build.h"
#include "lang/derivative.h"
#include "lang/op.h"
#include "lang/schedule.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// The derivative of one function, reverse mode.
class Derivation {
 public:
  Derivation(const lang::Function& given, lang::DiffMode mode, lang::Program& program, Pairs& pairs)
      : given_(given),
        mode_(mode),
        pairs_(pairs),
        // The primal code is a copy: the function may be called elsewhere too.
        copy_(lang::rename_bound(pairs.prepared(Expr(&given)))),
        fn_(lang::cast<lang::Function>(copy_)),
        reverse_(program, pairs) {}

  Expr derive() {
    if (lang::needs_scalar_result(mode_)) demand_scalar();
    for (const auto& free : lang::free_variables(copy_)) reverse_.deactivate(free);
    for (const auto& param : fn_.params) {
      if (is_unit(pairs_.tangents().or_unit(param->type))) reverse_.deactivate(param);
    }
    const lang::Block block = lang::open_block(fn_.body);
    reverse_.forward(block.bindings);
    const Expr value = reverse_.forward_value("value", block.result);
    return mode_ == lang::DiffMode::Vjp ? with_pullback(value) : with_gradient(value);
  }

 private:
  void demand_scalar() const {
    const auto* result = as<lang::TensorType>(fn_.body->type);
    if (result && result->shape.rank() == 0 && lang::is_float(result->dtype.known())) return;
    lang::fail(
        DiagnosticKind::NotDifferentiable,
        fmt::format("`{}` needs a function whose result is a float scalar, this one's is `{}`",
                    name_of(mode_), lang::to_string(fn_.body->type)),
        given_.span);
  }

  // Walks back from the result; the gradients of the parameters.
  std::vector<Expr> gradients(const Expr& value, const Expr& adjoint) {
    reverse_.seed(value, adjoint);
    reverse_.reverse();
    std::vector<Expr> gradients;
    for (const auto& param : fn_.params) {
      const Type tangent = pairs_.tangents().of(param->type);
      if (!tangent) {
        lang::fail(DiagnosticKind::Unsupported,
                   fmt::format("not supported: the gradient of an argument of type `{}`",
                               lang::to_string(param->type)),
                   param->span);
      }
      const Expr adjoint_of = is_unit(tangent) ? build::tuple({}) : reverse_.adjoint_of(param);
      gradients.push_back(pairs_.tangents().as_gradient(adjoint_of, lang::make_var(param)));
    }
    return gradients;
  }

  static Expr one_or_tuple(const std::vector<Expr>& gradients) {
    return gradients.size() == 1 ? gradients[0] : build::tuple(gradients);
  }

  // fn (x...) { gradients }, or the value and them.
  Expr with_gradient(const Expr& value) {
    const auto* type = as<lang::TensorType>(value->type);
    const std::vector<Expr> parts = gradients(value, build::constant(type->dtype.known(), 1));
    Expr result = one_or_tuple(parts);
    if (mode_ == lang::DiffMode::ValueAndGrad) result = build::tuple({value, result});
    std::vector<lang::Binding> bindings = reverse_.primal(0);
    for (auto& binding : reverse_.take_walk()) bindings.push_back(std::move(binding));
    if (mode_ == lang::DiffMode::CheckGrad) result = checked(bindings, parts);
    return function(std::move(bindings), result);
  }

  Expr checked(std::vector<lang::Binding>& bindings, const std::vector<Expr>& gradients) const {
    std::vector<std::string> names;
    for (const auto& param : fn_.params) names.push_back(param->name);
    const VariableRef self = lang::make_variable("f", Expr(&given_)->type);
    bindings.push_back({self, lang::rename_bound(Expr(&given_)), given_.span});
    return check_gradient(lang::make_var(self), uses_of(fn_.params), gradients, names, given_.span);
  }

  // fn (x...) { (value, fn (dy) { gradients }) }
  Expr with_pullback(const Expr& value) {
    const VariableRef dy = lang::make_variable("dy", value->type);
    const Expr adjoint = pairs_.tangents().from_gradient(lang::make_var(dy), value, given_.span);
    const Expr result = one_or_tuple(gradients(value, adjoint));
    const Expr body = lang::close_block({reverse_.take_walk(), result});
    const VariableRef pullback =
        lang::make_variable("pullback", lang::function_type({dy->type}, body->type));
    std::vector<lang::Binding> bindings = reverse_.primal(0);
    bindings.push_back({pullback, lang::make_function({dy}, body->type, body, {}, nullptr,
                                                      given_.span, pullback->type)});
    return function(std::move(bindings), build::tuple({value, lang::make_var(pullback)}));
  }

  Expr function(std::vector<lang::Binding> bindings, const Expr& result) const {
    const Expr body = lang::close_block({std::move(bindings), result});
    return lang::rename_bound(
        lang::make_function(fn_.params, body->type, body, {}, nullptr, given_.span));
  }

  const lang::Function& given_;
  lang::DiffMode mode_;
  Pairs& pairs_;
  Expr copy_;
  const lang::Function& fn_;
  BlockReverse reverse_;
};

// Such a function has halves of its own, which it may call itself.
bool ends_in_branch(const lang::Function& fn) {
  const Expr result = lang::open_block(fn.body).result;
  return result->kind == ExprKind::If || result->kind == ExprKind::Match;
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
    const auto& function = lang::cast<lang::Function>(fn);
    return telling_way(function, name_of_function(node->fn), function.params, program_,
                       pairs_.tangents(),
                       [&] { return derivative(function, node->mode, program_, pairs_); });
  }

 private:
  std::string name_of_function(const Expr& fn) {
    if (const auto* global = as<lang::GlobalVar>(fn)) return global->name;
    const auto* var = as<lang::Var>(fn);
    if (!var) return {};
    const auto found = functions_.find(var->variable.get());
    if (found == functions_.end()) return {};
    const std::string name = name_of_function(found->second);
    return name.empty() && is_named(*var->variable) ? var->variable->name : name;
  }

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
      // Dims that are known here may be variables there: only the call puts them in.
      // What has a schedule has halves of its own, too, which inherit it.
      if (!lang::gradient_of(known) && lang::equal(function->type, fn->type) &&
          !ends_in_branch(known) && !lang::schedule_of(known))
        return function;
      std::vector<std::string> names;
      for (const auto& param : known.params) names.push_back(param->name);
      return eta_expanded(fn, names, nullptr, span);
    }
    const auto* type = as<lang::FunctionType>(fn->type);
    std::vector<std::string> names;
    const bool is_one = type->params.size() == 1;
    for (std::size_t i = 0; i < type->params.size(); ++i)
      names.push_back(is_one ? "x" : fmt::format("x{}", i));
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
    const Expr body = lang::make_call(fn, args, attrs, fn->span ? fn->span : span, type->result,
                                      lang::Algebra::Bits);
    return lang::make_function(params, type->result, body, {}, nullptr, fn->span, fn->type);
  }

  lang::Program& program_;
  Pairs& pairs_;
  std::unordered_map<const lang::Variable*, Expr> functions_;
};

}  // namespace

Expr derivative(const lang::Function& given, lang::DiffMode mode, lang::Program& program,
                Pairs& pairs) {
  switch (mode) {
    case lang::DiffMode::Grad:
    case lang::DiffMode::ValueAndGrad:
    case lang::DiffMode::Vjp:
    case lang::DiffMode::CheckGrad:
      return Derivation(given, mode, program, pairs).derive();
    case lang::DiffMode::Jvp:
      return jvp(given, program, pairs);
    case lang::DiffMode::Linearize:
      return linearize(given, program, pairs);
    case lang::DiffMode::Hvp:
      return hvp(given, program, pairs);
    case lang::DiffMode::Hessian:
      return hessian(given, program, pairs);
    case lang::DiffMode::Jacobian:
      return jacobian(given, program, pairs);
    case lang::DiffMode::Transpose:
      return linear_transpose(given, program, pairs);
  }
  lang::internal_error(__FILE__, __LINE__, "a derivative of an unknown mode");
}

lang::Result<Expr> expand_derivatives(const Expr& expr, lang::Program& program, Pairs& pairs) {
  if (!lang::has_derivative(expr)) return expr;
  return lang::capture([&] {
    const lang::AlgebraScope scope(lang::Algebra::Real);
    return Expander(program, pairs).block(expr);
  });
}

}  // namespace relay::ad
