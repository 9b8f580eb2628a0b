#include <algorithm>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/derivative.h"
#include "lang/print.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// Ones in every leaf that has a derivative.
Expr ones_of(const Expr& value, lang::Span span) {
  if (const auto* tuple = as<lang::TupleType>(value->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(ones_of(build::project(value, i), span));
    return build::tuple(std::move(fields));
  }
  const auto* tensor = as<lang::TensorType>(value->type);
  if (!tensor) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: the pass `Gradient` for a function whose result is `{}`",
                           lang::to_string(value->type)),
               span);
  }
  if (lang::is_scalar(value->type)) return build::constant(tensor->dtype.known(), 1);
  return build::ones_like(value);
}

// No function and no reference, alone or in a tuple.
bool has_adjoint(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_adjoint);
  return type->kind != lang::TypeKind::Function && type->kind != lang::TypeKind::Reference;
}

// fn (x...) { let (value, pullback) = vjp(f)(x...); (value, (pullback(ones)...)) }
Expr with_gradient(const PassProgram::Entry& entry, const PassHost& host) {
  const Expr& function = entry.function;
  if (function->kind != lang::ExprKind::Function) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported: the pass `Gradient` for an expression that is no function",
               function->span);
  }
  const auto& fn = lang::cast<lang::Function>(function);
  const auto* type = as<lang::FunctionType>(function->type);
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  for (const auto& param : fn.params) {
    if (!has_adjoint(param->type)) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: the pass `Gradient` for a function that takes a `{}`",
                             lang::to_string(param->type)),
                 param->span);
    }
    params.push_back(lang::make_variable(param->name, param->type, param->span, param->attrs));
    args.push_back(lang::make_var(params.back()));
  }
  // By its name a function that calls itself has one derivative. An expression has no name.
  const Expr what = entry.is_changed || entry.name.empty()
                        ? function
                        : lang::make_global_var(entry.name, function->span, function->type);
  const Expr derivative = lang::make_differentiate(
      lang::DiffMode::Vjp, what, function->span, lang::derivative_type(lang::DiffMode::Vjp, *type));
  lang::Block block;
  const auto bind = [&](const char* name, Expr value) {
    const lang::VariableRef variable = lang::make_variable(name, value->type);
    block.bindings.push_back({variable, std::move(value), {}});
    return lang::make_var(variable);
  };
  const Expr both = bind("both", build::call(derivative, args));
  const Expr value = bind("value", build::project(both, 0));
  const Expr pullback = bind("pullback", build::project(both, 1));
  const Expr seed = bind("seed", ones_of(value, function->span));
  Expr gradients = bind("gradients", build::call(pullback, {seed}));
  if (params.size() == 1) gradients = bind("gradients", build::tuple({gradients}));
  block.result = build::tuple({value, gradients});
  const Expr body = lang::close_block(block);
  return host.optimise(host.without_derivatives(
      lang::make_function(params, body->type, body, fn.type_params, nullptr, function->span)));
}

}  // namespace

Pass gradient_pass() {
  Pass pass;
  pass.name = "Gradient";
  pass.doc =
      "each function `(A...) -> R` becomes `(A...) -> (R, (A...))`: its result, and the gradient "
      "of the sum of the result's elements";
  pass.in_anf = false;
  pass.keeps = Keeps::Meaning;
  pass.is_idempotent = false;
  pass.example = "def f(x: float32, y: float32) { sin(x) * y }";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    // What an expression calls is called for its value.
    const bool is_expression = program.find("") != nullptr;
    if (!is_expression) program.set_changed_meaning();
    program.each_at_once([&](const auto& entry) {
      const bool is_meant = !is_expression || entry.name.empty();
      return is_meant ? with_gradient(entry, program.host()) : entry.function;
    });
  };
  return pass;
}

}  // namespace relay::opt
