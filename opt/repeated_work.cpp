#include "opt/repeated_work.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "index/scalar_work.h"
#include "index/table_order.h"
#include "lang/alpha_equal.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::ExprNode;
using lang::IndexBinder;
using lang::Variable;
namespace build = lang::build;

namespace {

constexpr int kMostParts = 64;              // of what is compared
constexpr double kMostPoints = 1 << 20;     // of a table
constexpr double kFewestOperations = 4000;  // that it saves: a kernel takes as long as 2,000
constexpr int kMostRounds = 8;

// A place where something is computed at each point of its binders.
struct Use {
  std::size_t step;  // of the block
  Expr node;
  Expr value;                        // without the names that the step gives to its parts
  std::vector<IndexBinder> binders;  // in the order in which they occur
  Expr whole;                        // at all points, by which it is compared
  std::vector<const ExprNode*> parts;
};

// Code without the names of its parts: a graph.
class Unnamed final : public lang::Rewriter {
 public:
  explicit Unnamed(const std::unordered_map<const Variable*, Expr>& names) : names_(names) {}

 protected:
  Expr pre(const Expr& expr) override {
    if (const auto* let = as<lang::Let>(expr)) return rewrite(let->body);
    const auto* var = as<lang::Var>(expr);
    const auto name = var ? names_.find(var->variable.get()) : names_.end();
    if (name == names_.end()) return nullptr;
    const auto known = values_.find(var->variable.get());
    if (known != values_.end()) return known->second;
    Expr value = rewrite(name->second);
    values_.emplace(var->variable.get(), value);
    return value;
  }

 private:
  const std::unordered_map<const Variable*, Expr>& names_;
  std::unordered_map<const Variable*, Expr> values_;
};

// Finds what one step of a block computes at its points.
class Finder {
 public:
  Finder(std::size_t step, std::vector<Use>& uses) : step_(step), uses_(uses) {}

  void walk(const Expr& code) {
    const lang::Block block = lang::open_block(code);
    for (const Binding& binding : block.bindings) {
      walk(binding.value);
      names_.emplace(binding.variable.get(), binding.value);
    }
    const Expr& node = block.result;
    if (!seen_.insert(node.get()).second) return;
    switch (node->kind) {
      case ExprKind::If:
        return walk(lang::cast<lang::If>(node).condition);
      case ExprKind::Match:
      case ExprKind::Function:
        return;
      default:
        break;
    }
    if (const auto* binders = lang::binders_of(node)) {
      for (const IndexBinder& binder : *binders) binders_.emplace(binder.variable.get(), binder);
    }
    lang::for_each_child(node, [&](const Expr& child) { walk(child); });
    consider(node);
  }

 private:
  // How many parts it has, as a tree; more than there may be: it is no arithmetic on elements of
  // what the step does not make itself.
  int parts(const Expr& node) {
    const auto [place, is_new] = parts_.try_emplace(node.get(), 0);
    if (!is_new) return place->second;
    int number = kMostParts + 1;
    const auto* var = as<lang::Var>(node);
    const auto name = var ? names_.find(var->variable.get()) : names_.end();
    if (const auto* let = as<lang::Let>(node)) {
      number = parts(let->body);
    } else if (name != names_.end()) {
      number = parts(name->second);
    } else if (is_plain(node)) {
      number = 1;
      lang::for_each_child(node, [&](const Expr& child) {
        const bool is_tensor = node->kind == ExprKind::Index && !lang::is_scalar(child->type);
        if (!is_tensor && child->kind != ExprKind::Operator) number += parts(child);
      });
    }
    return parts_[node.get()] = std::min(number, kMostParts + 1);
  }

  bool is_plain(const Expr& node) const {
    switch (node->kind) {
      case ExprKind::Constant:
      case ExprKind::Var:
        return lang::is_scalar(node->type);
      case ExprKind::Index: {
        const Expr& tensor = lang::cast<lang::Index>(node).tensor;
        return lang::is_scalar(node->type) && lang::is_leaf(tensor) &&
               !names_.contains(variable_of(tensor));
      }
      case ExprKind::Reduction:
        return lang::is_scalar(node->type);
      case ExprKind::Primitive:
      case ExprKind::Call:
        return lang::is_scalar(node->type) && lang::arithmetic_step(node);
      default:
        return false;
    }
  }

  // Is it something that a table could be made of: a reduction, or a function of numbers?
  bool is_work(const Expr& node) const {
    if (node->kind == ExprKind::Reduction) return true;
    const auto step = lang::arithmetic_step(node);
    return step && !lang::is_cheap(step->prim);
  }

  void consider(const Expr& node) {
    if (!is_work(node) || parts(node) > kMostParts) return;
    Use use{step_, node, unnamed_.rewrite(node), {}, nullptr, {}};
    for (const lang::VariableRef& variable : lang::free_variables(use.value)) {
      const auto binder = binders_.find(variable.get());
      if (binder != binders_.end()) use.binders.push_back(binder->second);
    }
    const double points = lang::number_of_points(use.binders).value_or(0);
    if (use.binders.empty() || points <= 0 || points > kMostPoints) return;
    if (lang::MayFail()(use.value)) return;
    use.whole = lang::make_comprehension(use.binders, use.value);
    add_parts(node, use.parts);
    uses_.push_back(std::move(use));
  }

  // Those that have names, too.
  void add_parts(const Expr& node, std::vector<const ExprNode*>& parts) const {
    parts.push_back(node.get());
    const auto* var = as<lang::Var>(node);
    const auto name = var ? names_.find(var->variable.get()) : names_.end();
    if (name != names_.end()) add_parts(name->second, parts);
    lang::for_each_child(node, [&](const Expr& child) { add_parts(child, parts); });
  }

  const std::size_t step_;
  std::vector<Use>& uses_;
  std::unordered_set<const ExprNode*> seen_;
  std::unordered_map<const Variable*, Expr> names_;  // of parts of the step
  Unnamed unnamed_{names_};
  std::unordered_map<const Variable*, IndexBinder> binders_;
  std::unordered_map<const ExprNode*, int> parts_;
};

// Uses of the same.
struct Group {
  std::vector<const Use*> uses;
  double work = 0;  // at a point
};

std::vector<Group> groups_of(const std::vector<Use>& uses) {
  std::vector<Group> groups;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_hash;
  for (const Use& use : uses) {
    std::vector<std::size_t>& alike = by_hash[lang::structural_hash(use.whole)];
    const auto same = std::find_if(alike.begin(), alike.end(), [&](std::size_t each) {
      const Expr& whole = groups[each].uses.front()->whole;
      return lang::alpha_equal(whole, use.whole) && lang::equal(whole->type, use.whole->type);
    });
    if (same != alike.end()) {
      groups[*same].uses.push_back(&use);
      continue;
    }
    alike.push_back(groups.size());
    groups.push_back({{&use}, 0});
  }
  std::erase_if(groups, [](Group& group) {
    if (group.uses.size() < 2) return true;
    const Use& use = *group.uses.front();
    group.work = index::scalar_work(use.value);
    const auto others = static_cast<double>(group.uses.size() - 1);
    return others * group.work < 2 * index::kKeptWork ||
           others * group.work * *lang::number_of_points(use.binders) < kFewestOperations;
  });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.work > b.work; });
  return groups;
}

// Puts other expressions in the place of some.
class Replacer final : public lang::Rewriter {
 public:
  explicit Replacer(const std::unordered_map<const ExprNode*, Expr>& reads) : reads_(reads) {}

 protected:
  Expr pre(const Expr& expr) override {
    const auto read = reads_.find(expr.get());
    return read == reads_.end() ? nullptr : read->second;
  }

 private:
  const std::unordered_map<const ExprNode*, Expr>& reads_;
};

// The tensor, if it is the comprehension of all of its elements; else the value.
Expr without_copy(const Expr& value) {
  const auto* all = as<lang::Comprehension>(value);
  const auto* read = all ? as<lang::Index>(all->body) : nullptr;
  if (!read || !variable_of(read->tensor) || !equal(read->tensor->type, value->type) ||
      read->indices.size() != all->binders.size())
    return value;
  for (std::size_t i = 0; i < read->indices.size(); ++i) {
    if (variable_of(read->indices[i]) != all->binders[i].variable.get()) return value;
  }
  return read->tensor;
}

class Tabulator final : public lang::Rewriter {
 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == ExprKind::Let || lang::binders_of(expr) ? block(expr) : nullptr;
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<Binding> steps;
    for (Binding& step : opened.bindings) {
      Expr value = lang::binders_of(step.value) ? step.value : rewrite(step.value);
      changed = changed || value != step.value;
      steps.push_back({step.variable, std::move(value), step.span});
    }
    // The result is one of the steps, too.
    Expr last = lang::binders_of(opened.result) ? opened.result : rewrite(opened.result);
    changed = changed || last != opened.result;
    steps.push_back({nullptr, std::move(last), {}});
    for (int round = 0; round < kMostRounds && tabulate(steps); ++round) changed = true;
    if (!changed) return expr;
    Expr result = std::move(steps.back().value);
    steps.pop_back();
    return lang::close_block({std::move(steps), std::move(result)});
  }

  // Whether there was something to be done once.
  static bool tabulate(std::vector<Binding>& steps) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (lang::binders_of(steps[i].value)) Finder(i, uses).walk(steps[i].value);
    }
    std::unordered_set<const ExprNode*> taken;  // parts of what is replaced
    std::unordered_map<const ExprNode*, Expr> reads;
    std::vector<std::pair<std::size_t, Binding>> tables;  // in front of which step
    for (const Group& group : groups_of(uses)) {
      const bool is_free = std::none_of(group.uses.begin(), group.uses.end(), [&](const Use* use) {
        return taken.contains(use->node.get());
      });
      if (is_free) tables.push_back(table_of(group, taken, reads));
    }
    if (tables.empty()) return false;
    std::stable_sort(tables.begin(), tables.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Replacer replacer(reads);
    std::vector<Binding> result;
    auto table = tables.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (; table != tables.end() && table->first == i; ++table)
        result.push_back(std::move(table->second));
      Binding& step = steps[i];
      if (lang::binders_of(step.value)) {
        Expr value = replacer.rewrite(step.value);
        // What had a name for the sake of what has gone would count as done there, too.
        if (value != step.value) step.value = without_copy(eliminate_dead_code(value));
      }
      result.push_back(std::move(step));
    }
    steps = std::move(result);
    return true;
  }

  static std::pair<std::size_t, Binding> table_of(
      const Group& group, std::unordered_set<const ExprNode*>& taken,
      std::unordered_map<const ExprNode*, Expr>& reads) {
    // What may be regrouped is nothing for what keeps its bits.
    const auto exact = std::find_if(group.uses.begin(), group.uses.end(),
                                    [](const Use* use) { return !may_be_regrouped(use->value); });
    const Use& model = **(exact == group.uses.end() ? group.uses.begin() : exact);
    const std::vector<std::size_t> order = index::table_order(model.binders, model.value);
    const auto ordered = [&](const Use& use) {
      std::vector<IndexBinder> binders;
      for (const std::size_t i : order) binders.push_back(use.binders[i]);
      return binders;
    };
    const Expr whole = lang::rename_bound(lang::make_comprehension(ordered(model), model.value));
    const lang::VariableRef table = lang::make_variable("table", whole->type);
    std::size_t first = group.uses.front()->step;
    for (const Use* use : group.uses) {
      first = std::min(first, use->step);
      taken.insert(use->parts.begin(), use->parts.end());
      reads.emplace(use->node.get(),
                    build::at(lang::make_var(table), lang::uses_of(ordered(*use))));
    }
    return {first, {table, whole}};
  }
};

}  // namespace

Expr tabulate_repeated_work(const Expr& expr) { return Tabulator().rewrite(expr); }

}  // namespace relay::opt
