#include "opt/repeated_work.h"

#include <algorithm>
#include <functional>
#include <memory>
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
constexpr int kMostRounds = 3;

// A place where something is computed at each point of its binders.
struct Use {
  std::size_t step;  // of the block
  Expr node;
  Expr value;                             // without the names that the step gives to its parts
  std::vector<IndexBinder> binders = {};  // in the order in which they occur
  double points = 0;
  Expr whole = nullptr;  // at all points, by which it is compared
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
  // Work that may be done elsewhere, too. What is the same has the same hash.
  struct Candidate {
    const Finder* finder;
    Expr node;
    std::size_t hash;
    double work;
  };

  explicit Finder(std::size_t step) : step_(step) {}

  void walk(const Expr& code, std::vector<Candidate>& found) {
    const lang::Block block = lang::open_block(code);
    for (const Binding& binding : block.bindings) {
      walk(binding.value, found);
      names_.emplace(binding.variable.get(), binding.value);
    }
    const Expr& node = block.result;
    if (!seen_.insert(node.get()).second) return;
    switch (node->kind) {
      case ExprKind::If:
        return walk(lang::cast<lang::If>(node).condition, found);
      case ExprKind::Match:
      case ExprKind::Function:
        return;
      default:
        break;
    }
    if (const auto* binders = lang::binders_of(node)) {
      for (const IndexBinder& binder : *binders) binders_.emplace(binder.variable.get(), binder);
    }
    lang::for_each_child(node, [&](const Expr& child) { walk(child, found); });
    if (!is_work(node)) return;
    const Facts facts = facts_of(node);
    if (facts.parts <= kMostParts) found.push_back({this, node, facts.hash, facts.work});
  }

  // Nothing where it can be no table.
  std::optional<Use> use_of(const Expr& node) const {
    Use use{step_, node, Unnamed(names_).rewrite(node)};
    for (const lang::VariableRef& variable : lang::free_variables(use.value)) {
      const auto binder = binders_.find(variable.get());
      if (binder != binders_.end()) use.binders.push_back(binder->second);
    }
    use.points = lang::number_of_points(use.binders).value_or(0);
    if (use.binders.empty() || use.points <= 0 || use.points > kMostPoints) return std::nullopt;
    if (lang::MayFail()(use.value)) return std::nullopt;
    use.whole = lang::make_comprehension(use.binders, use.value);
    return use;
  }

  // It and what it is made of, by way of names, too.
  void add_parts(const Expr& node, std::unordered_set<const ExprNode*>& parts) const {
    if (!parts.insert(node.get()).second) return;
    const auto name = names_.find(variable_of(node));
    if (name != names_.end()) add_parts(name->second, parts);
    lang::for_each_child(node, [&](const Expr& child) { add_parts(child, parts); });
  }

 private:
  struct Facts {
    // As a tree; more than there may be: it is no arithmetic on elements of what the step does not
    // make itself.
    int parts = kMostParts + 1;
    double work = 0;
    std::size_t hash = 0;  // whatever the binders are, but for their extents
  };

  Facts facts_of(const Expr& node) {
    const auto known = facts_.find(node.get());
    if (known != facts_.end()) return known->second;
    Facts facts;
    const auto name = names_.find(variable_of(node));
    if (const auto* let = as<lang::Let>(node)) {
      facts = facts_of(let->body);
    } else if (name != names_.end()) {
      facts = facts_of(name->second);
    } else if (is_plain(node)) {
      facts = {lang::is_scalar(node->type) ? 1 : 0, 0, own_hash(node)};
      lang::for_each_child(node, [&](const Expr& child) {
        const Facts part = facts_of(child);
        facts.parts = std::min(facts.parts + part.parts, kMostParts + 1);
        facts.hash = facts.hash * 31 + part.hash;
      });
      facts.work = index::scalar_work(node, work_);
    }
    work_.emplace(node.get(), facts.work);
    facts_.emplace(node.get(), facts);
    return facts;
  }

  bool is_plain(const Expr& node) const {
    switch (node->kind) {
      case ExprKind::Constant:
      case ExprKind::Var:
      case ExprKind::GlobalVar:
      case ExprKind::Operator:
        return true;
      case ExprKind::Index:
        return lang::is_scalar(node->type) && lang::is_leaf(lang::cast<lang::Index>(node).tensor) &&
               !names_.contains(variable_of(lang::cast<lang::Index>(node).tensor));
      case ExprKind::Reduction:
        return lang::is_scalar(node->type);
      case ExprKind::Primitive:
      case ExprKind::Call:
        return lang::is_scalar(node->type) && lang::arithmetic_step(node);
      default:
        return false;
    }
  }

  // Of what it is without its parts.
  std::size_t own_hash(const Expr& node) const {
    const auto kind = static_cast<std::size_t>(node->kind);
    if (const auto step = lang::arithmetic_step(node))
      return kind + 101 * static_cast<std::size_t>(step->prim);
    if (const auto* reduction = as<lang::Reduction>(node))
      return kind + 103 * static_cast<std::size_t>(reduction->op);
    const Variable* const variable = variable_of(node);
    if (!variable) return lang::is_leaf(node) ? lang::structural_hash(node) : kind;
    const auto binder = binders_.find(variable);
    if (binder == binders_.end()) return std::hash<const void*>()(variable);
    return kind + std::hash<double>()(lang::number_of_points({binder->second}).value_or(0));
  }

  // Is it something that a table could be made of: a reduction, or a function of numbers?
  static bool is_work(const Expr& node) {
    if (node->kind == ExprKind::Reduction) return true;
    const auto step = lang::arithmetic_step(node);
    return step && !lang::is_cheap(step->prim);
  }

  const std::size_t step_;
  std::unordered_set<const ExprNode*> seen_;
  std::unordered_map<const Variable*, Expr> names_;  // of parts of the step
  std::unordered_map<const Variable*, IndexBinder> binders_;
  std::unordered_map<const ExprNode*, Facts> facts_;
  index::ScalarWork work_;
};

using Candidates = std::vector<Finder::Candidate>;

// Is it less to write a value and to read it wherever it is needed than to do that again?
bool pays(std::size_t uses, double work) {
  return static_cast<double>(uses - 1) * work >= 2 * index::kKeptWork;
}

// Those that may be the same, the most work first.
std::vector<Candidates> alike(const Candidates& all) {
  std::vector<Candidates> classes;
  std::unordered_map<std::size_t, std::size_t> places;
  for (const Finder::Candidate& each : all) {
    const auto [place, is_new] = places.try_emplace(each.hash, classes.size());
    if (is_new) classes.emplace_back();
    classes[place->second].push_back(each);
  }
  std::erase_if(classes, [](const Candidates& each) {
    return each.size() < 2 || !pays(each.size(), each.front().work);
  });
  std::stable_sort(classes.begin(), classes.end(), [](const Candidates& a, const Candidates& b) {
    return a.front().work > b.front().work;
  });
  return classes;
}

// Uses of the same.
std::vector<std::vector<Use>> groups_of(const Candidates& candidates) {
  std::vector<std::vector<Use>> groups;
  for (const Finder::Candidate& each : candidates) {
    std::optional<Use> use = each.finder->use_of(each.node);
    if (!use) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const Expr& whole = group.front().whole;
      return lang::alpha_equal(whole, use->whole) && lang::equal(whole->type, use->whole->type);
    });
    if (same == groups.end()) {
      groups.push_back({*std::move(use)});
    } else {
      same->push_back(*std::move(use));
    }
  }
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
    std::vector<std::unique_ptr<Finder>> finders;
    Candidates candidates;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!lang::binders_of(steps[i].value)) continue;
      finders.push_back(std::make_unique<Finder>(i));
      finders.back()->walk(steps[i].value, candidates);
    }
    std::unordered_set<const ExprNode*> taken;  // parts of what is replaced
    std::unordered_map<const ExprNode*, Expr> reads;
    std::vector<std::pair<std::size_t, Binding>> tables;  // in front of which step
    for (Candidates& same : alike(candidates)) {
      std::erase_if(same, [&](const auto& each) { return taken.contains(each.node.get()); });
      if (same.size() < 2) continue;
      const double work = same.front().work;
      for (const std::vector<Use>& group : groups_of(same)) {
        const double saved = static_cast<double>(group.size() - 1) * work * group.front().points;
        if (!pays(group.size(), work) || saved < kFewestOperations) continue;
        tables.push_back(table_of(group, reads));
        for (const Finder::Candidate& each : same) {
          if (reads.contains(each.node.get())) each.finder->add_parts(each.node, taken);
        }
      }
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
        if (value != step.value) value = eliminate_dead_code(value);
        const Expr copy = value != step.value ? copied(value) : Expr();
        step.value = copy ? copy : value;
      }
      result.push_back(std::move(step));
    }
    steps = std::move(result);
    return true;
  }

  static std::pair<std::size_t, Binding> table_of(
      const std::vector<Use>& group, std::unordered_map<const ExprNode*, Expr>& reads) {
    // What may be regrouped is nothing for what keeps its bits.
    const auto exact = std::find_if(group.begin(), group.end(),
                                    [](const Use& use) { return !may_be_regrouped(use.value); });
    const Use& model = exact == group.end() ? group.front() : *exact;
    const std::vector<std::size_t> order = index::table_order(model.binders, model.value);
    const auto ordered = [&](const Use& use) {
      std::vector<IndexBinder> binders;
      for (const std::size_t i : order) binders.push_back(use.binders[i]);
      return binders;
    };
    const Expr whole = lang::rename_bound(lang::make_comprehension(ordered(model), model.value));
    const lang::VariableRef table = lang::make_variable("table", whole->type);
    std::size_t first = group.front().step;
    for (const Use& use : group) {
      first = std::min(first, use.step);
      reads.emplace(use.node.get(), build::at(lang::make_var(table), lang::uses_of(ordered(use))));
    }
    return {first, {table, whole}};
  }
};

}  // namespace

Expr tabulate_repeated_work(const Expr& expr) { return Tabulator().rewrite(expr); }

}  // namespace relay::opt
