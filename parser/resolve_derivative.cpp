// Calls of derivatives of functions whose parameters have default values. What is left out, or
// given by name, is not differentiated by: `grad(loss)(w, rate=0.1)` is `grad(fn (w) { loss(w, 0.1)
// })(w)`.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::DiffMode;

namespace {

// May it be computed where the function is, instead of in front: is it arithmetic of numbers and
// names?
bool is_plain(const lang::Expr& expr) {
  switch (expr->kind) {
    case lang::ExprKind::Literal:
    case lang::ExprKind::Constant:
    case lang::ExprKind::Var:
    case lang::ExprKind::GlobalVar:
      return true;
    case lang::ExprKind::Projection:
      return is_plain(lang::cast<lang::Projection>(expr).tuple);
    case lang::ExprKind::Tuple: {
      const auto& fields = lang::cast<lang::Tuple>(expr).fields;
      return std::all_of(fields.begin(), fields.end(), is_plain);
    }
    case lang::ExprKind::Call: {
      const auto& call = lang::cast<lang::Call>(expr);
      const auto* op = lang::as<lang::Operator>(call.callee);
      return op && op->op->elementwise && std::all_of(call.args.begin(), call.args.end(), is_plain);
    }
    default:
      return false;
  }
}

}  // namespace

// `grad(jvp(f))`: its forms, the outermost first, and what is known of `f`.
struct Resolver::Derivative {
  std::vector<const lang::Differentiate*> forms;
  const Signature* known = nullptr;
  Expr function;
  std::size_t directions = 0;  // how often parameters for a direction double their number

  // Of the parameters that values are given for.
  std::size_t values() const {
    const auto& list = known->parameters->list;
    return static_cast<std::size_t>(
        std::count_if(list.begin(), list.end(),
                      [](const lang::Parameter& each) { return !each.attribute.has_value(); }));
  }
};

std::optional<Resolver::Derivative> Resolver::derivative_with_defaults(const Expr& callee) {
  if (strict_) return std::nullopt;
  Derivative result{{}, nullptr, callee};
  while (const auto* form = lang::as<lang::Differentiate>(result.function)) {
    if (form->mode == DiffMode::Transpose) return std::nullopt;  // it takes a result
    if (lang::takes_direction(form->mode)) ++result.directions;
    result.forms.push_back(form);
    result.function = form->fn;
  }
  const auto* global = lang::as<lang::GlobalVar>(result.function);
  if (result.forms.empty() || !global) return std::nullopt;
  result.known = signature_of_global(global->name);
  if (!result.known) return std::nullopt;
  const auto& list = result.known->parameters->list;
  const bool has_default = std::any_of(list.begin(), list.end(), [](const auto& each) {
    return each.default_value || each.attribute;
  });
  return has_default ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<lang::Expr> Resolver::derivative_call(const Expr& callee, std::vector<Expr> args,
                                                    std::span<const Node* const> nodes,
                                                    Span where) {
  const std::optional<Derivative> derivative = derivative_with_defaults(callee);
  if (!derivative) return std::nullopt;
  std::vector<const Node*> by_name;
  for (const Node* node : nodes) {
    if (node->kind == Syntax::Attr) {
      by_name.push_back(node);
      continue;
    }
    if (!by_name.empty()) report_behind(*node, *by_name.front());
    args.push_back(expr(*node));
  }
  const std::size_t points = args.size() >> derivative->directions;
  const bool fits = points << derivative->directions == args.size();
  if (!fits && args.size() < derivative->values() << derivative->directions) {
    Diagnostic diagnostic(
        DiagnosticKind::WrongArity,
        fmt::format(
            "`{}` takes points, and as many directions, but {} given", callee->span.text(),
            args.size() == 1 ? "1 argument is" : fmt::format("{} arguments are", args.size())),
        where);
    diagnostic.note(usage_note(derivative->function->span.text(), *derivative->known->parameters));
    report(std::move(diagnostic));
    return lang::make_tuple({}, where);
  }
  if (by_name.empty() && (!fits || points >= derivative->values()))
    return lang::make_call(callee, std::move(args), nullptr, where);
  return at_defaults(*derivative, points, std::move(args), by_name, where);
}

// The derivative of the function of its first parameters, as many as there are `points`.
lang::Expr Resolver::at_defaults(const Derivative& derivative, std::size_t points,
                                 std::vector<Expr> args, std::span<const Node* const> by_name,
                                 Span where) {
  const std::vector<lang::Parameter>& list = derivative.known->parameters->list;
  std::vector<VariableRef> params;
  Slots slots(list.size());
  for (std::size_t i = 0; i < list.size() && params.size() < points; ++i) {
    if (list[i].attribute) continue;
    params.push_back(lang::make_variable(list[i].name, nullptr, where));
    slots.args[i] = lang::make_var(params.back(), where);
    slots.given[i] = args[params.size() - 1]->span;
  }
  const std::vector<Expr> varied = slots.args;
  const std::string_view name = derivative.function->span.text();
  for (const Node* node : by_name) {
    if (!place_by_name(*node, name, *derivative.known, by_name, slots)) return nothing(*node);
  }
  // The others are computed once, in order, outside of what is differentiated.
  std::vector<VariableRef> outer;
  std::vector<Expr> given = args;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!slots.args[i] || slots.args[i] == varied[i] || is_plain(slots.args[i])) continue;
    outer.push_back(lang::make_variable(list[i].name, nullptr, slots.args[i]->span));
    given.push_back(std::exchange(slots.args[i], lang::make_var(outer.back(), where)));
  }
  Expr result = lang::make_function(
      std::move(params), nullptr,
      filled_call(name, *derivative.known, derivative.function, slots, {}, where), {}, nullptr,
      derivative.function->span);
  for (auto form = derivative.forms.rbegin(); form != derivative.forms.rend(); ++form)
    result = lang::make_differentiate((*form)->mode, std::move(result), (*form)->span);
  if (outer.empty()) return lang::make_call(std::move(result), std::move(args), nullptr, where);
  // (fn (points..., others...) { grad(…)(points...) })(…): their types are found together.
  std::vector<VariableRef> all;
  for (Expr& arg : args) {
    all.push_back(lang::make_variable("at", nullptr, arg->span));
    arg = lang::make_var(all.back(), arg->span);
  }
  all.insert(all.end(), outer.begin(), outer.end());
  result = lang::make_call(std::move(result), std::move(args), nullptr, where);
  result = lang::make_function(std::move(all), nullptr, std::move(result), {}, nullptr, where);
  return lang::make_call(std::move(result), std::move(given), nullptr, where);
}

}  // namespace relay::parser
