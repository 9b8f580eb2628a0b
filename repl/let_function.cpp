#include "repl/let_function.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "lang/derivative.h"
#include "lang/op.h"
#include "repl/older_function.h"
#include "repl/session_state.h"

namespace relay::repl {

using lang::Expr;
using lang::VariableRef;

namespace {

// The function literal that a global stands for; null if it is none.
using FindFunction = std::function<const lang::Function*(const std::string&)>;

const lang::Function* function_of(const lang::Module& module, const std::string& name) {
  const lang::Definition* definition = module.find(name);
  return definition ? lang::as<lang::Function>(definition->function) : nullptr;
}

std::optional<std::vector<std::string>> parameters_of(const lang::Function* function) {
  if (!function) return std::nullopt;
  std::vector<std::string> names;
  for (const VariableRef& param : function->params) names.push_back(param->name);
  return names;
}

// Behind its points, a derivative in a direction takes a direction for each of them.
void add_directions(std::vector<std::string>& names) {
  const std::vector<std::string> points = names;
  for (const std::string& point : points) {
    std::string direction = "d" + point;
    while (std::find(names.begin(), names.end(), direction) != names.end())
      direction.insert(0, 1, 'd');
    names.push_back(std::move(direction));
  }
}

// The parameters of a function that needs no evaluation; nothing for other expressions.
std::optional<std::vector<std::string>> parameters_of(const Expr& expr, const FindFunction& find) {
  if (const auto* op = lang::as<lang::Operator>(expr)) {
    const bool needs_attrs =
        std::any_of(op->op->attrs.begin(), op->op->attrs.end(),
                    [](const lang::AttrSpec& attr) { return !attr.default_value; });
    if (needs_attrs) return std::nullopt;
    std::vector<std::string> names;
    for (const lang::InputSpec& input : op->op->inputs) {
      if (!input.is_optional) names.push_back(input.name);
    }
    return names;
  }
  if (const auto* global = lang::as<lang::GlobalVar>(expr))
    return parameters_of(find(global->name));
  if (const auto* derivative = lang::as<lang::Differentiate>(expr)) {
    auto names = parameters_of(derivative->fn, find);
    if (names && lang::takes_direction(derivative->mode)) add_directions(*names);
    return names;
  }
  return parameters_of(lang::as<lang::Function>(expr));
}

void let_as_definition(parser::Item& item, const FindFunction& find) {
  if (item.kind != parser::ItemKind::Let || item.pattern) return;
  if (item.expr->kind == lang::ExprKind::Function) {
    item.kind = parser::ItemKind::Def;
    return;
  }
  const auto names = item.annotation ? std::nullopt : parameters_of(item.expr, find);
  if (!names || names->empty()) return;
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  const lang::Span span = item.expr->span;
  for (const std::string& name : *names) {
    params.push_back(lang::make_variable(name, nullptr, span));
    args.push_back(lang::make_var(params.back(), span));
  }
  if (const auto* op = lang::as<lang::Operator>(item.expr)) {
    while (args.size() < op->op->inputs.size()) args.push_back(lang::make_tuple({}, span));
  }
  Expr body = lang::make_call(item.expr, std::move(args), nullptr, span);
  item.expr = lang::make_function(std::move(params), nullptr, std::move(body), {}, nullptr, span);
  item.kind = parser::ItemKind::Def;
  item.follows = true;
}

}  // namespace

bool is_function(const Expr& expr, const lang::Module& module) {
  if (const auto* global = lang::as<lang::GlobalVar>(expr))
    return function_of(module, global->name) != nullptr;
  if (const auto* derivative = lang::as<lang::Differentiate>(expr))
    return is_function(derivative->fn, module);
  return expr->kind == lang::ExprKind::Function || expr->kind == lang::ExprKind::Operator;
}

void lets_as_definitions(std::vector<parser::Item>& items, const lang::Module& module) {
  // Who binds a name; null: several.
  std::unordered_map<std::string, const parser::Item*> binding;
  for (const parser::Item& item : items) {
    if (item.kind != parser::ItemKind::Def && item.kind != parser::ItemKind::Let) continue;
    for (const std::string& name : names_of(item)) {
      const auto [found, is_new] = binding.emplace(name, &item);
      if (!is_new) found->second = nullptr;
    }
  }
  std::unordered_set<std::string> bound;
  for (parser::Item& item : items) {
    if (item.kind != parser::ItemKind::Let) continue;
    bool is_first = true;
    for (const std::string& name : names_of(item))
      is_first &= bound.insert(name).second && !module.find(name);
    if (!is_first) continue;
    let_as_definition(item, [&](const std::string& name) {
      const auto found = binding.find(name);
      if (found == binding.end()) return function_of(module, name);
      const parser::Item* other = found->second;
      return other && other->kind == parser::ItemKind::Def ? lang::as<lang::Function>(other->expr)
                                                           : nullptr;
    });
  }
}

std::vector<std::string> reach_let(parser::Item& item, lang::Module& module) {
  const std::vector<std::string> names = names_of(item);
  let_as_definition(item, [&](const std::string& name) { return function_of(module, name); });
  std::vector<std::string> concerned;
  for (const std::string& name : names) {
    for (std::string& follower : keep_older(name, item.follows ? &item.expr : nullptr, module))
      concerned.push_back(std::move(follower));
  }
  return concerned;
}

std::string owner_of_gradient(const lang::Module& module, const std::string& name) {
  const std::string ending = "." + std::string(lang::kGradientAttr);
  if (!name.ends_with(ending)) return "";
  std::string owner = name.substr(0, name.size() - ending.size());
  const lang::Definition* definition = module.find(owner);
  const auto* function = definition ? lang::as<lang::Function>(definition->function) : nullptr;
  const std::string* gradient = function ? lang::gradient_of(*function) : nullptr;
  return gradient && *gradient == name ? owner : "";
}

}  // namespace relay::repl
