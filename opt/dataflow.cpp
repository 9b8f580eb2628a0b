#include "opt/dataflow.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "lang/module.h"
#include "lang/op.h"
#include "lang/pointer_map.h"
#include "lang/print.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

bool is_opaque(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Function:
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::ScatterReduce:
    case ExprKind::Differentiate:
      return true;
    default:
      return false;
  }
}

std::string maker_of(const Expr& expr) {
  if (const auto* primitive = as<lang::Primitive>(expr))
    return std::string(lang::info(primitive->prim).text);
  if (const auto* projection = as<lang::Projection>(expr))
    return fmt::format("field {} of", projection->index);
  const auto* call = as<lang::Call>(expr);
  if (!call) return std::string(lang::name_of(expr->kind));
  if (const auto* op = as<lang::Operator>(call->callee)) return op->op->name;
  if (const auto* global = as<lang::GlobalVar>(call->callee)) return global->name;
  if (const auto* constructor = as<lang::ConstructorRef>(call->callee))
    return constructor->constructor->name;
  return "call of";
}

class Listing {
 public:
  explicit Listing(const Expr& root) {
    lang::visit_post_order(root, [this](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (!let) return;
      variables_[let->variable.get()] = let->value;
      names_[let->value.get()] = let->variable->name;
    });
    const auto* fn = as<lang::Function>(root);
    add_all(fn ? fn->body : root);
  }
  Dataflow take() { return std::move(flow_); }

 private:
  // What is made of others comes behind them; a stack of its own, for graphs are deep.
  void add_all(const Expr& root) {
    struct Item {
      Expr expr;
      bool is_open;
    };
    std::vector<Item> open{{root, false}};
    while (!open.empty()) {
      const Item item = open.back();
      open.pop_back();
      if (lang::is_leaf(item.expr) || values_.contains(item.expr.get())) continue;
      if (item.is_open) {
        add(item.expr);
        continue;
      }
      open.push_back({item.expr, true});
      const std::vector<Expr> parts = parts_of(item.expr);
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) open.push_back({*part, false});
    }
  }

  // What stands inside is part of the value, and what it uses from outside is read.
  static std::vector<Expr> parts_of(const Expr& expr) {
    std::vector<Expr> parts;
    if (is_opaque(expr)) {
      for (const auto& variable : lang::free_variables(expr))
        parts.push_back(lang::make_var(variable));
    } else {
      lang::for_each_child(expr, [&](const Expr& child) { parts.push_back(child); });
    }
    const auto* call = as<lang::Call>(expr);
    const bool is_named = call && lang::is_leaf(call->callee) && !as<lang::Var>(call->callee);
    if (is_named) std::erase(parts, call->callee);
    return parts;
  }

  void add(const Expr& expr) {
    kept_.push_back(expr);
    if (const auto* let = as<lang::Let>(expr)) {
      // A `let` is its body; its variable is what it is bound to.
      values_[expr.get()] = value_of(let->body);
      return;
    }
    Dataflow::Value value;
    value.name = fmt::format("%{}", flow_.values.size());
    if (const std::string* bound = names_.find(expr.get())) {
      const int earlier = uses_of_name_[*bound]++;
      value.name = earlier == 0 ? *bound : fmt::format("{}{}", *bound, earlier);
    }
    value.maker = maker_of(expr);
    for (const Expr& part : parts_of(expr)) {
      const auto read = value_of(part);
      if (read) value.reads.push_back(*read);
      value.operands.push_back(read ? flow_.values[*read].name : lang::print_light(part));
    }
    values_[expr.get()] = flow_.values.size();
    flow_.values.push_back(std::move(value));
  }

  std::optional<std::size_t> value_of(const Expr& expr) {
    if (const auto* var = as<lang::Var>(expr)) {
      const auto* bound = variables_.find(var->variable.get());
      return bound ? value_of(*bound) : std::nullopt;
    }
    const auto* known = values_.find(expr.get());
    return known ? *known : std::nullopt;
  }

  Dataflow flow_;
  lang::PointerMap<lang::ExprNode, std::optional<std::size_t>> values_;
  lang::PointerMap<lang::ExprNode, std::string> names_;
  lang::PointerMap<lang::Variable, Expr> variables_;
  std::map<std::string, int> uses_of_name_;
  std::vector<Expr> kept_;
};

}  // namespace

Dataflow dataflow_of(const Expr& function) { return Listing(function).take(); }

// The algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001) on the
// graph turned round; it has no circles, so that one round is enough.
std::vector<std::size_t> post_dominators(const Dataflow& dataflow) {
  const std::size_t count = dataflow.values.size();
  std::vector<std::vector<std::size_t>> users(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t read : dataflow.values[i].reads) users[read].push_back(i);
  }
  std::vector<std::size_t> dominators(count);
  for (std::size_t i = count; i-- > 0;) {
    dominators[i] = i;
    for (std::size_t u = 0; u < users[i].size(); ++u) {
      std::size_t a = u == 0 ? users[i][u] : dominators[i];
      std::size_t b = users[i][u];
      while (a != b) {
        std::size_t& earlier = a < b ? a : b;
        if (dominators[earlier] == earlier) break;
        earlier = dominators[earlier];
      }
      dominators[i] = a == b ? a : i;
      if (a != b) break;
    }
  }
  return dominators;
}

}  // namespace relay::opt
