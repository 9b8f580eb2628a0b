#include "index/needed_where.h"

#include <algorithm>

#include "lang/alpha_equal.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::Prim;

namespace {

constexpr std::size_t kMostSides = 64;  // around one value

}  // namespace

NeededWhere::NeededWhere(const Expr& code) {
  std::vector<Expr> nodes;
  std::unordered_multimap<const lang::ExprNode*, const lang::Variable*> bound;  // by value
  lang::visit_post_order(code, [&](const Expr& node) {
    nodes.push_back(node);
    if (const auto* let = as<lang::Let>(node)) bound.emplace(let->value.get(), let->variable.get());
  });
  // What uses a node comes before it, and the uses of a variable before its value.
  std::unordered_map<const lang::Variable*, Sides> of_variables;
  sides_[code.get()] = {};
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Expr& node = *it;
    for (auto [at, end] = bound.equal_range(node.get()); at != end; ++at) {
      const auto used = of_variables.find(at->second);
      if (used != of_variables.end()) use(node, used->second);
    }
    const Sides sides = sides_[node.get()];
    if (const auto* var = as<lang::Var>(node)) {
      const auto [known, is_new] = of_variables.try_emplace(var->variable.get(), sides);
      if (!is_new)
        std::erase_if(known->second, [&](const Side& each) { return !is_among(each, sides); });
    }
    use_parts(node, sides);
  }
}

NeededWhere::Side NeededWhere::side(const TakenSide& taken) {
  return {taken, lang::structural_hash(taken.condition)};
}

bool NeededWhere::is_among(const Side& side, const Sides& sides) {
  return std::any_of(sides.begin(), sides.end(), [&](const Side& each) {
    const Expr& condition = each.taken.condition;
    return each.hash == side.hash && each.taken.holds == side.taken.holds &&
           (condition == side.taken.condition ||
            lang::alpha_equal(condition, side.taken.condition));
  });
}

void NeededWhere::use(const Expr& node, const Sides& sides) {
  const auto [known, is_new] = sides_.try_emplace(node.get(), sides);
  if (!is_new)
    std::erase_if(known->second, [&](const Side& each) { return !is_among(each, sides); });
}

void NeededWhere::use_parts(const Expr& node, const Sides& sides) {
  const auto use_branches = [&](const Expr& condition, const Expr& first, const Expr& second) {
    use(condition, sides);
    for (const bool holds : {true, false}) {
      Sides inner = sides;
      for (const TakenSide& each : conjuncts({condition, holds})) {
        if (inner.size() < kMostSides) inner.push_back(side(each));
      }
      use(holds ? first : second, inner);
    }
  };
  const auto* select = as<lang::Primitive>(node);
  if (const auto* branch = as<lang::If>(node)) {
    use_branches(branch->condition, branch->then_branch, branch->else_branch);
  } else if (select && select->prim == Prim::Select) {
    use_branches(select->args[0], select->args[1], select->args[2]);
  } else if (const auto* let = as<lang::Let>(node)) {
    use(let->body, sides);
  } else {
    lang::for_each_child(node, [&](const Expr& child) { use(child, sides); });
  }
}

std::vector<TakenSide> NeededWhere::sides(const Expr& node) const {
  const auto found = sides_.find(node.get());
  std::vector<TakenSide> sides;
  if (found == sides_.end()) return sides;
  for (const Side& each : found->second) sides.push_back(each.taken);
  return sides;
}

bool NeededWhere::implies(const Expr& node, const Expr& condition) const {
  const auto found = sides_.find(node.get());
  return found != sides_.end() &&
         std::ranges::all_of(conjuncts({condition, true}), [&](const TakenSide& each) {
           return is_among(side(each), found->second);
         });
}

}  // namespace relay::index
