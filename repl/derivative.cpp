#include "repl/derivative.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "repl/made_program.h"
#include "typecheck/derivative_rule.h"

namespace relay::repl {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Type;

namespace {

// What stays open in a scheme is float32; a dtype that must be an integer's is int32. Shapes that
// stay open have these ranks, in order, and extents `m, n`, which shapes share from the last axis
// on, as broadcasting does.
Type plain_instance(const typecheck::Scheme& scheme, const std::vector<std::size_t>& ranks,
                    const std::vector<lang::Dim>& extents) {
  lang::TypeSubstitution plain;
  std::size_t shapes = 0;
  for (const lang::TypeVarRef& var : lang::variables_of(scheme.type)) {
    switch (var->kind) {
      case lang::VarKind::Type:
        plain.types.emplace(var.get(), lang::scalar_type(lang::DType::Float32));
        break;
      case lang::VarKind::Shape: {
        const auto rank = static_cast<std::ptrdiff_t>(ranks[shapes++]);
        plain.shapes.emplace(
            var.get(), lang::Shape(std::vector<lang::Dim>(extents.end() - rank, extents.end())));
        break;
      }
      case lang::VarKind::DType: {
        const auto demand =
            std::find_if(scheme.requirements.begin(), scheme.requirements.end(),
                         [&](const typecheck::DTypeRequirement& each) { return each.var == var; });
        const bool takes_floats = demand == scheme.requirements.end() ||
                                  lang::accepts(demand->operands, lang::DType::Float32);
        plain.dtypes.emplace(var.get(), takes_floats ? lang::DType::Float32 : lang::DType::Int32);
        break;
      }
      case lang::VarKind::Dim:
        break;  // by name
    }
  }
  return lang::substitute(scheme.type, plain);
}

constexpr std::size_t kMostRank = 5;

std::vector<lang::Dim> extents_beside(const typecheck::Scheme& scheme) {
  std::set<std::string> taken;
  for (const lang::TypeVarRef& var : lang::variables_of(scheme.type)) taken.insert(var->name);
  std::vector<lang::Dim> extents;
  for (const char letter : std::string_view("nmklpqrstuvw")) {
    if (extents.size() == kMostRank) break;
    const std::string name(1, letter);
    if (!taken.count(name))
      extents.push_back(lang::Dim::variable(lang::TypeVar::rigid(lang::VarKind::Dim, name)));
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
}

// The next of the lists of `ranks.size()` ranks in order of their sum; false behind the last.
bool next_ranks(std::vector<std::size_t>& ranks) {
  // Within a sum: the last rank that can give one to its left neighbour.
  for (std::size_t i = ranks.size(); i-- > 1;) {
    if (ranks[i] == 0) continue;
    const std::size_t rest = ranks[i] - 1;
    ++ranks[i - 1];
    ranks[i] = 0;
    ranks.back() = rest;
    return true;
  }
  const std::size_t sum = ranks.empty() ? kMostRank : ranks[0];
  if (sum == kMostRank) return false;
  std::fill(ranks.begin(), ranks.end(), 0);
  ranks.back() = sum + 1;
  return true;
}

[[noreturn]] void fail_without_function(const Expr& expr, const Type& type, lang::DiffMode mode) {
  throw lang::Failure(
      lang::Diagnostic(DiagnosticKind::BadCommand,
                       fmt::format("`{}` takes a function, or a call of one, and this is `{}`",
                                   lang::name_of(mode), lang::to_string(type)),
                       expr->span));
}

bool is_function_form(const Expr& expr) {
  return expr->kind == lang::ExprKind::Function || expr->kind == lang::ExprKind::GlobalVar ||
         expr->kind == lang::ExprKind::Operator || expr->kind == lang::ExprKind::Differentiate;
}

// Those of `dims` that are not `declared` are `?`.
lang::TypeSubstitution opened(const std::vector<lang::TypeVarRef>& dims,
                              const std::vector<lang::TypeVarRef>& declared) {
  lang::TypeSubstitution substitution;
  for (const lang::TypeVarRef& var : dims) {
    if (var->kind == lang::VarKind::Dim &&
        std::find(declared.begin(), declared.end(), var) == declared.end())
      substitution.dims.emplace(var.get(), lang::Dim::any());
  }
  return substitution;
}

// With the dimensions that it is generic in; those that no argument shows are `?`, so that the text
// can be read again.
Expr with_dimensions(const Expr& function) {
  const auto* fn = as<lang::Function>(function);
  if (!fn) return function;
  std::vector<lang::TypeVarRef> declared = fn->type_params;
  for (const auto& param : fn->params) {
    for (const lang::TypeVarRef& var : lang::variables_of(param->type)) {
      if (std::find(declared.begin(), declared.end(), var) == declared.end())
        declared.push_back(var);
    }
  }
  std::vector<lang::TypeVarRef> used;
  lang::visit_post_order(function, [&](const Expr& node) {
    if (!node->type) return;
    const auto own = lang::variables_of(node->type);
    used.insert(used.end(), own.begin(), own.end());
  });
  const Expr open = lang::substitute_types(function, opened(used, declared));
  const auto& other = lang::cast<lang::Function>(open);
  return lang::make_function(other.params, other.result, other.body, declared, other.attrs,
                             function->span, open->type);
}

// A data type that derivatives have made says what it holds of extents as `?`: it may hold
// values of functions that call them otherwise.
lang::TypeDefRef with_open_dimensions(const lang::TypeDefRef& given) {
  lang::TypeDefRef def(new lang::TypeDef(*given));
  for (lang::Constructor& constructor : def->constructors) {
    for (Type& field : constructor.fields)
      field = lang::substitute(field, opened(lang::variables_of(field), given->params));
  }
  return def;
}

}  // namespace

// At the least ranks that its operators take.
Expr at_plainest_types(const Expr& function, typecheck::Checker& checker) {
  const typecheck::Scheme given = checker.type_of(function).or_throw();
  const typecheck::Scheme& scheme = given.usual ? *given.usual : given;
  std::size_t shapes = 0;
  for (const lang::TypeVarRef& var : lang::variables_of(scheme.type))
    shapes += var->kind == lang::VarKind::Shape ? 1 : 0;
  std::vector<std::size_t> ranks(shapes, 0);
  const std::vector<lang::Dim> extents = extents_beside(scheme);
  std::optional<std::vector<lang::Diagnostic>> errors;
  constexpr int kMostTries = 200;
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto typed = checker.check(function, plain_instance(scheme, ranks, extents));
    if (typed) return std::move(typed).or_throw();
    if (!errors) errors = typed.errors();
    if (!next_ranks(ranks)) break;
  }
  if (shapes > 0) {
    errors->front().note(fmt::format(
        "note: parameters without a type are tried at ranks 0 to {}: annotate them for another",
        kMostRank));
  }
  throw lang::Failure(std::move(*errors));
}

// `fn` in itself is a function of tensors that gives a tensor, and fails where it is to give a
// number: then that is what is wrong, and not what its operators say of numbers.
[[noreturn]] void fail_to_derive(const Expr& fn, lang::DiffMode mode, typecheck::Checker& checker,
                                 lang::Failure failure) {
  const bool is_said =
      std::any_of(failure.diagnostics.begin(), failure.diagnostics.end(), [](const auto& each) {
        return each.kind == DiagnosticKind::NotDifferentiable || lang::is_stop(each.kind);
      });
  const auto scheme = checker.type_of(fn);
  const auto* function = scheme ? as<lang::FunctionType>(scheme->type) : nullptr;
  const auto* result = function ? as<lang::TensorType>(function->result) : nullptr;
  const bool is_number = result && result->shape.has_rank() && result->shape.rank() == 0;
  if (is_said || !lang::needs_scalar_result(mode) || !result || is_number) throw std::move(failure);
  lang::Diagnostic error(DiagnosticKind::NotDifferentiable,
                         fmt::format("`{}` needs a function whose result is a float scalar, and "
                                     "here it is a tensor",
                                     lang::name_of(mode)),
                         fn->span);
  if (const auto text = typecheck::summed(fn, function->params.size()))
    error.note(fmt::format("help: `{}({})`", lang::name_of(mode), *text));
  throw lang::Failure(std::move(error));
}

Expr derivative_of(const Expr& expr, lang::DiffMode mode, typecheck::Checker& checker) {
  // A call that gives a function is a function like any other.
  if (expr->kind == lang::ExprKind::Call) {
    const Expr typed = checker.check(expr).or_throw();
    if (!as<lang::FunctionType>(typed->type)) {
      const auto* call = as<lang::Call>(typed);
      if (!call || call->callee->kind == lang::ExprKind::ConstructorRef)
        fail_without_function(expr, typed->type, mode);
      // Typed as the call that it would be: if its result is no scalar, that is said of the call.
      const auto& given = lang::cast<lang::Call>(expr);
      std::vector<Expr> args = given.args;
      if (lang::takes_direction(mode))
        args.insert(args.end(), given.args.begin(), given.args.end());
      const Expr derivative = lang::make_differentiate(mode, given.callee, given.callee->span);
      const Expr whole = lang::make_call(derivative, std::move(args), nullptr, expr->span);
      return lang::cast<lang::Call>(checker.check(whole).or_throw()).callee;
    }
  }
  if (!is_function_form(expr)) {
    const typecheck::Scheme scheme = checker.type_of(expr).or_throw();
    if (!as<lang::FunctionType>(scheme.type)) fail_without_function(expr, scheme.type, mode);
  }
  const Expr derivative = lang::make_differentiate(mode, expr, expr->span);
  try {
    return at_plainest_types(derivative, checker);
  } catch (lang::Failure& failure) {
    fail_to_derive(expr, mode, checker, std::move(failure));
  }
}

std::string print_derivative(const Expr& expr, lang::DiffMode mode, bool is_strict,
                             lang::Module& module, typecheck::Checker& checker,
                             Pipeline& pipeline) {
  const Expr function = pipeline.optimise(pipeline.to_core(derivative_of(expr, mode, checker)));
  const MadeProgram made = collect_made(function, is_strict, module, pipeline);
  std::string text = operator_notes(made);
  const auto add = [&](const std::string& item) { text += item + "\n"; };
  for (const auto& type : made.types) {
    const lang::TypeDefRef def = with_open_dimensions(type);
    add(is_strict ? lang::print_type_def(*def) : lang::print_light_type_def(*def));
  }
  for (const auto& [name, function] : made.functions) {
    const Expr body = with_dimensions(function);
    add(is_strict ? lang::print_definition(name, body)
                  : lang::print_light_definition(name, body, &module));
  }
  if (!is_strict) return text + lang::print_light(with_dimensions(made.result), &module);
  const auto* global = as<lang::GlobalVar>(expr);
  const std::string name =
      global ? fmt::format("{}_{}", global->name, lang::name_of(mode)) : "main";
  return "#[version = \"0.0.5\"]\n" + text +
         lang::print_definition(name, with_dimensions(made.result));
}

}  // namespace relay::repl
