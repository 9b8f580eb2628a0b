#include "opt/partial_eval_functions.h"

#include <algorithm>

#include "lang/any_dim.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "opt/partial_eval_residual.h"
#include "opt/passes.h"

namespace relay::opt::partial {

using lang::as;
using lang::Expr;

namespace {

bool is_of_steps(lang::Effect effect) {
  switch (effect) {
    case lang::Effect::WalkCell:
    case lang::Effect::BeginWalk:
    case lang::Effect::EndWalk:
    case lang::Effect::BeginReplay:
    case lang::Effect::EndReplay:
    case lang::Effect::Time:
      return true;
    default:
      return false;
  }
}

bool has_equal_params(const lang::Function& function, const std::vector<const Value*>& args) {
  if (function.params.size() != args.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!lang::equal(function.params[i]->type, args[i]->type)) return false;
  }
  return true;
}

}  // namespace

Expr Functions::global(const lang::GlobalVar& global) {
  auto& known = globals_[global.name];
  for (const Expr& each : known) {
    if (lang::equal(each->type, global.type)) return each;
  }
  if (!program_.is_function(global.name)) return nullptr;
  const auto found =
      lang::capture([&] { return prepare_(program_.function(global.name, global.type)); });
  lang::poll();
  if (!found || !as<lang::Function>(*found)) return nullptr;
  // Functions that differentiation has made need not be normal.
  known.push_back(to_anf(*found, &program_));
  return known.back();
}

Expr Functions::global_at(const lang::GlobalVar& callee, const std::vector<const Value*>& args,
                          const lang::Type& result) {
  const Expr whole = global(callee);
  if (!whole) return nullptr;
  const auto& own = lang::cast<lang::Function>(whole);
  if (has_equal_params(own, args)) return lang::equal(own.body->type, result) ? whole : Expr();
  lang::TypeSubstitution dims;
  for (std::size_t i = 0; i < args.size() && i < own.params.size(); ++i)
    lang::match_dims(own.params[i]->type, args[i]->type, dims);
  if (dims.empty()) return nullptr;
  Expr at = lang::substitute_types(lang::rename_bound(whole), dims);
  const auto& fn = lang::cast<lang::Function>(at);
  return has_equal_params(fn, args) && lang::equal(fn.body->type, result) ? at : Expr();
}

bool Functions::is_recursive(const lang::GlobalVar& root) {
  if (const auto found = recursive_.find(root.name); found != recursive_.end())
    return found->second;
  std::set<std::string> reached;
  std::vector<Expr> open = {global(root)};
  while (!open.empty()) {
    const Expr next = std::move(open.back());
    open.pop_back();
    if (!next) continue;
    lang::visit_post_order(next, [&](const Expr& node) {
      const auto* callee = as<lang::GlobalVar>(node);
      if (callee && reached.insert(callee->name).second) open.push_back(global(*callee));
    });
  }
  return recursive_[root.name] = reached.contains(root.name);
}

std::size_t Functions::nodes(const Expr& function) {
  std::size_t& nodes = nodes_[function.get()];
  if (nodes == 0) nodes = nodes_of(function);
  return nodes;
}

bool Functions::is_movable(const Expr& function) {
  const auto [place, is_new] = movable_.try_emplace(function.get(), true);
  if (!is_new) return place->second;
  const Expr bare = lang::without_facts(function, {lang::FunctionFact::Inline});
  const bool is_movable = !lang::cast<lang::Function>(bare).attrs && !counts_steps(function);
  return movable_[function.get()] = is_movable;
}

bool Functions::is_open(const Expr& function) {
  return !lang::is_group(function) && !counts_steps(function);
}

bool Functions::counts_up(const Expr& function, std::size_t place, const IsSelf& is_self) {
  const auto& fn = lang::cast<lang::Function>(function);
  lang::PointerMap<lang::Variable, Expr> values;
  const auto grows = [&](const Expr& arg) {
    const auto* var = as<lang::Var>(arg);
    const Expr* value = var ? values.find(var->variable.get()) : nullptr;
    if (!value) return false;
    const auto step = lang::arithmetic_step(*value);
    if (!step || step->prim != lang::Prim::Add) return false;
    const auto* param = as<lang::Var>(step->args[0]);
    const auto* by = as<lang::Constant>(step->args[1]);
    return param && by && param->variable == fn.params[place] &&
           lang::int_from_bits(by->value->dtype(), by->value->bits_at(0)) > 0;
  };
  std::size_t calls = 0;
  bool all_grow = true;
  lang::visit_post_order(fn.body, [&](const Expr& node) {
    if (const auto* let = as<lang::Let>(node)) values[let->variable.get()] = let->value;
  });
  lang::visit_post_order(fn.body, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    if (!call || !is_self(call->callee)) return;
    ++calls;
    all_grow = all_grow && grows(call->args[place]);
  });
  return calls > 0 && all_grow;
}

bool Functions::counts_steps(const Expr& function) {
  bool counts = false;
  lang::visit_post_order(function, [&](const Expr& node) {
    const auto* op = as<lang::Operator>(node);
    counts = counts || (op && is_of_steps(op->op->effect));
  });
  return counts;
}

}  // namespace relay::opt::partial
