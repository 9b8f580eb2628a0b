// Calls of derivatives of functions whose parameters have default values. What is left out, or
// given by name, is not differentiated by: `grad(loss)(w, rate=0.1)` is `grad(fn (w) { loss(w, 0.1)
// })(w)`.

#include <algorithm>

#include "lang/derivative.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::DiffMode;

namespace {

bool is_number(const lang::Expr& expr) {
  return expr->kind == lang::ExprKind::Literal || expr->kind == lang::ExprKind::Constant;
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
  if (by_name.empty() && (!fits || points >= derivative->values()))
    return lang::make_call(callee, std::move(args), nullptr, where);
  return at_defaults(*derivative, std::move(args), by_name, where);
}

// The derivative of the function of as many parameters as there are points among `args`.
lang::Expr Resolver::at_defaults(const Derivative& derivative, std::vector<Expr> args,
                                 std::span<const Node* const> by_name, Span where) {
  const std::size_t points = args.size() >> derivative.directions;
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
  // Computed once, outside of what is differentiated.
  std::vector<std::pair<VariableRef, Expr>> constants;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!slots.args[i] || slots.args[i] == varied[i] || is_number(slots.args[i])) continue;
    constants.emplace_back(lang::make_variable(list[i].name, nullptr, slots.args[i]->span),
                           slots.args[i]);
    slots.args[i] = lang::make_var(constants.back().first, where);
  }
  Expr result = lang::make_function(
      std::move(params), nullptr,
      filled_call(name, *derivative.known, derivative.function, slots, {}, where), {}, nullptr,
      derivative.function->span);
  for (auto form = derivative.forms.rbegin(); form != derivative.forms.rend(); ++form)
    result = lang::make_differentiate((*form)->mode, std::move(result), (*form)->span);
  result = lang::make_call(std::move(result), std::move(args), nullptr, where);
  for (auto constant = constants.rbegin(); constant != constants.rend(); ++constant)
    result = lang::make_let(constant->first, constant->second, std::move(result), where);
  return result;
}

}  // namespace relay::parser
