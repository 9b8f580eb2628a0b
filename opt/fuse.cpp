#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/schedule.h"
#include "lang/visit.h"
#include "opt/effect.h"
#include "opt/passes.h"

// Bindings of a block get levels so that what runs as kernels (operators and index notation on
// tensors) and what does not (scalar code, calls, control) alternate: level 0's other bindings,
// level 0's kernels, level 1's other bindings, ... A kernel binding shares the level of the kernels
// it reads; other code that reads a kernel comes one level later. The kernels of one level that are
// connected by reads form a group; a group is convex by construction. Effects keep their order
// among themselves.

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::VariableRef;

namespace {

bool is_tensor_of_rank(const lang::Type& type, bool& positive) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) {
      if (!is_tensor_of_rank(field, positive)) return false;
    }
    return !tuple->fields.empty();
  }
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return false;
  positive = positive || tensor->shape.rank() > 0;
  return true;
}

// Runs as a kernel: lowerable, and a tensor of rank > 0 goes in or comes out.
bool is_kernel(const Expr& value) {
  if (value->kind != ExprKind::Call && value->kind != ExprKind::Comprehension &&
      value->kind != ExprKind::Reduction && value->kind != ExprKind::ScatterReduce) {
    return false;
  }
  if (const auto* call = as<lang::Call>(value)) {
    const auto* op = as<lang::Operator>(call->callee);
    if (!op) return false;
  }
  bool positive = false;
  if (!is_tensor_of_rank(value->type, positive)) return false;
  for (const auto& variable : lang::free_variables(value)) {
    if (!is_tensor_of_rank(variable->type, positive)) return false;
  }
  return positive && lang::is_lowerable(value);
}

class Fuser final : public lang::Rewriter {
 public:
  explicit Fuser(std::size_t most) : most_(most) {}

  Expr block(const Expr& expr) {
    Plan plan(lang::open_block(expr));
    for (auto& binding : plan.block.bindings) binding.value = nested(binding.value);
    plan.block.result = nested(plan.block.result);
    name_tail_kernel(plan);
    place_tuples(plan.block);
    find_extents(plan);
    assign_levels(plan);
    return emit(plan);
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (lang::is_unit(expr)) return expr;
    // A kernel already: what is inside runs per element.
    const bool is_index_notation = expr->kind == ExprKind::Comprehension ||
                                   expr->kind == ExprKind::Reduction ||
                                   expr->kind == ExprKind::ScatterReduce;
    return is_index_notation && lang::is_lowerable(expr) ? expr : nullptr;
  }

 private:
  struct Plan {
    explicit Plan(lang::Block opened) : block(std::move(opened)) {}
    lang::Block block;
    std::unordered_set<const lang::Variable*>
        extents;  // their values decide extents: must be computed outside groups
    std::unordered_map<const lang::Variable*, std::size_t> index;
    std::vector<bool> kernel;
    std::vector<int> level;
    std::vector<std::vector<VariableRef>> reads;
    std::vector<std::size_t> group;  // union-find over kernel bindings
    std::vector<std::size_t> size;   // of the group, at its root
  };

  Expr nested(const Expr& expr) { return rewrite(expr); }

  // A kernel in result position gets a name, so that it can join a group.
  static void name_tail_kernel(Plan& plan) {
    if (!is_kernel(plan.block.result)) return;
    VariableRef variable =
        lang::make_variable("result", plan.block.result->type, plan.block.result->span);
    const Expr result = lang::make_var(variable, plan.block.result->span);
    plan.block.bindings.push_back(
        {variable, std::exchange(plan.block.result, result), plan.block.result->span});
  }

  // A tuple of tensors that only operators are given, as those that a concatenation joins, stands
  // in their calls: what makes the tensors may then be in one group with what reads them.
  static void place_tuples(lang::Block& block) {
    std::unordered_map<const lang::Variable*, Expr> tuples;
    for (const Binding& binding : block.bindings) {
      bool positive = false;
      if (binding.value->kind == ExprKind::Tuple &&
          is_tensor_of_rank(binding.value->type, positive))
        tuples.emplace(binding.variable.get(), binding.value);
    }
    if (tuples.empty()) return;
    const auto keep = [&](const Expr& value) {
      for (const auto& variable : lang::free_variables(value)) tuples.erase(variable.get());
    };
    for (const Binding& binding : block.bindings) {
      if (!is_kernel(binding.value) || !as<lang::Call>(binding.value)) keep(binding.value);
    }
    keep(block.result);
    if (tuples.empty()) return;
    std::erase_if(block.bindings,
                  [&](const Binding& binding) { return tuples.contains(binding.variable.get()); });
    const lang::Substitution placed(tuples.begin(), tuples.end());
    for (Binding& binding : block.bindings) {
      if (is_kernel(binding.value)) binding.value = lang::substitute(binding.value, placed);
    }
  }

  static void find_extents(Plan& plan) {
    for (const auto& binding : plan.block.bindings) {
      for (const auto& variable : lang::shaping_variables(binding.value))
        plan.extents.insert(variable.get());
    }
  }

  static std::size_t find(Plan& plan, std::size_t i) {
    while (plan.group[i] != i) i = plan.group[i] = plan.group[plan.group[i]];
    return i;
  }

  // A tensor of a tuple that a kernel gives costs nothing: its readers belong to the kernel's
  // group.
  static bool is_part_of_kernel(const Plan& plan, std::size_t i) {
    const auto* const part = as<lang::Projection>(plan.block.bindings[i].value);
    const auto* const tuple = part ? as<lang::Var>(part->tuple) : nullptr;
    bool positive = false;
    if (!tuple || !is_tensor_of_rank(part->type, positive)) return false;
    const auto found = plan.index.find(tuple->variable.get());
    return found != plan.index.end() && plan.kernel[found->second];
  }

  void assign_levels(Plan& plan) const {
    const auto& bindings = plan.block.bindings;
    const std::size_t count = bindings.size();
    plan.kernel.resize(count);
    plan.level.assign(count, 0);
    plan.reads.resize(count);
    plan.group.resize(count);
    std::iota(plan.group.begin(), plan.group.end(), std::size_t{0});
    plan.size.assign(count, 1);
    int effect_level = 0;
    for (std::size_t i = 0; i < count; ++i) {
      plan.index[bindings[i].variable.get()] = i;
      plan.kernel[i] = (is_kernel(bindings[i].value) || is_part_of_kernel(plan, i)) &&
                       !plan.extents.count(bindings[i].variable.get());
      plan.reads[i] = lang::free_variables(bindings[i].value);
      int level = 0;
      for (const auto& variable : plan.reads[i]) {
        const auto found = plan.index.find(variable.get());
        if (found == plan.index.end() || found->second == i) continue;
        const int other = plan.level[found->second];
        level = std::max(level, plan.kernel[found->second] && !plan.kernel[i] ? other + 1 : other);
      }
      if (!plan.kernel[i] && Effects().has_effect(bindings[i].value))
        level = effect_level = std::max(level, effect_level);
      plan.level[i] = level;
      if (plan.kernel[i]) join_groups(plan, i);
    }
  }

  // The group of the kernels that `i` reads; where it would be too large, `i` begins one later.
  void join_groups(Plan& plan, std::size_t i) const {
    std::vector<std::size_t> roots;
    std::size_t size = 1;
    for (const auto& variable : plan.reads[i]) {
      const auto found = plan.index.find(variable.get());
      if (found == plan.index.end() || !plan.kernel[found->second] ||
          plan.level[found->second] != plan.level[i])
        continue;
      const std::size_t root = find(plan, found->second);
      if (root == i || std::find(roots.begin(), roots.end(), root) != roots.end()) continue;
      roots.push_back(root);
      size += plan.size[root];
    }
    if (most_ > 0 && size > most_) {
      ++plan.level[i];
      return;
    }
    for (const std::size_t root : roots) {
      const std::size_t own = find(plan, i);
      plan.group[own] = root;
      plan.size[root] = size;
    }
  }

  static Expr emit(Plan& plan) {
    const auto& bindings = plan.block.bindings;
    std::vector<std::size_t> order(bindings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (plan.level[a] != plan.level[b]) return plan.level[a] < plan.level[b];
      if (plan.kernel[a] != plan.kernel[b]) return !plan.kernel[a];
      return plan.kernel[a] && find(plan, a) != find(plan, b) ? find(plan, a) < find(plan, b)
                                                              : a < b;
    });
    std::unordered_map<const lang::Variable*, std::vector<std::size_t>> readers;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      for (const auto& variable : plan.reads[i]) readers[variable.get()].push_back(i);
    }
    std::unordered_set<const lang::Variable*> in_result;
    for (const auto& variable : lang::free_variables(plan.block.result))
      in_result.insert(variable.get());
    const auto is_read_outside = [&](std::size_t i, std::size_t root) {
      const auto* variable = bindings[i].variable.get();
      if (in_result.count(variable)) return true;
      for (std::size_t reader : readers[variable]) {
        if (!plan.kernel[reader] || find(plan, reader) != root) return true;
      }
      return false;
    };
    std::vector<Binding> result;
    for (std::size_t at = 0; at < order.size();) {
      const std::size_t i = order[at];
      if (!plan.kernel[i]) {
        result.push_back(bindings[i]);
        ++at;
        continue;
      }
      const std::size_t root = find(plan, i);
      std::vector<Binding> members;
      std::vector<VariableRef> outputs;
      for (; at < order.size() && plan.kernel[order[at]] && find(plan, order[at]) == root; ++at) {
        members.push_back(bindings[order[at]]);
        if (is_read_outside(order[at], root)) outputs.push_back(bindings[order[at]].variable);
      }
      emit_group(std::move(members), outputs, result);
    }
    // The name that name_tail_kernel gave disappears again when its value ended up last. That of a
    // function stays: by it the function calls itself.
    if (const auto* var = as<lang::Var>(plan.block.result);
        var && !result.empty() && result.back().variable == var->variable &&
        result.back().value->kind != ExprKind::Function) {
      const Expr tail = result.back().value;
      result.pop_back();
      return lang::close_block({std::move(result), tail});
    }
    return lang::close_block({std::move(result), plan.block.result});
  }

  static void emit_group(std::vector<Binding> members, const std::vector<VariableRef>& outputs,
                         std::vector<Binding>& result) {
    if (members.size() == 1) {
      result.push_back(std::move(members[0]));
      return;
    }
    if (outputs.empty()) return;  // nobody reads it
    std::unordered_set<const lang::Variable*> own;
    for (const auto& member : members) own.insert(member.variable.get());
    std::vector<VariableRef> params;
    std::vector<Expr> args;
    lang::Substitution renamed;
    for (const auto& member : members) {
      for (const auto& variable : lang::free_variables(member.value)) {
        if (own.count(variable.get()) || renamed.count(variable.get())) continue;
        params.push_back(lang::make_variable(variable->name, variable->type, variable->span));
        args.push_back(lang::make_var(variable));
        renamed[variable.get()] = lang::make_var(params.back());
      }
    }
    std::vector<Expr> fields;
    for (const auto& output : outputs) fields.push_back(lang::make_var(output));
    const Expr value = fields.size() == 1 ? fields[0] : lang::build::tuple(fields);
    const lang::Span span = members.back().value->span;
    const Expr body =
        lang::rename_bound(lang::substitute(lang::close_block({members, value}), renamed));
    const Expr fn = lang::make_function(params, body->type, body, {},
                                        lang::with_fact(lang::FunctionFact::Primitive), span);
    const Expr call = lang::make_call(fn, args, nullptr, span, body->type);
    if (fields.size() == 1) {
      result.push_back({outputs[0], call, span});
      return;
    }
    const VariableRef group = lang::make_variable("group", body->type, span);
    result.push_back({group, call, span});
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      result.push_back({outputs[i], lang::build::project(lang::make_var(group), i), span});
    }
  }

  const std::size_t most_;
};

// Kernels read variables only: top-level bindings that hold tensors are read into variables first,
// all at the start of the function, since reading one costs and changes nothing.
class GlobalReader final : public lang::Rewriter {
 public:
  Expr run(const Expr& expr) {
    const Expr body = rewrite(expr);
    return lang::close_block({std::move(reads_), body});
  }

 protected:
  Expr post(const Expr& expr) override {
    const auto* global = as<lang::GlobalVar>(expr);
    bool positive = false;
    if (!global || !is_tensor_of_rank(expr->type, positive)) return expr;
    auto& variable = variables_[global->name];
    if (!variable) {
      variable = lang::make_variable(global->name, expr->type, expr->span);
      reads_.push_back({variable, expr, expr->span});
    }
    return lang::make_var(variable, expr->span);
  }

 private:
  std::unordered_map<std::string, VariableRef> variables_;
  std::vector<Binding> reads_;
};

// Groups of a function with a schedule have it, too, and its index notation is in groups.
class Scheduler final : public lang::Rewriter {
 public:
  explicit Scheduler(const lang::Function& function) : function_(function) {
    lang::visit_post_order(function.body, [&](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == ExprKind::Comprehension)
        names_.emplace(let->value.get(), let->variable);
    });
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (lang::is_group(expr)) {
      const auto& group = lang::cast<lang::Function>(expr);
      return lang::with_attrs(group, facts_of(group.body, group.attrs));
    }
    if (expr->kind != ExprKind::Comprehension || !is_kernel(expr)) return nullptr;
    std::vector<VariableRef> params;
    std::vector<Expr> args;
    lang::Substitution renamed;
    for (const auto& variable : lang::free_variables(expr)) {
      params.push_back(lang::make_variable(variable->name, variable->type, variable->span));
      args.push_back(lang::make_var(variable));
      renamed[variable.get()] = lang::make_var(params.back());
    }
    // Steps know it by its name.
    Expr value = expr;
    if (const auto name = names_.find(expr.get()); name != names_.end())
      value = lang::close_block({{{name->second, expr}}, lang::make_var(name->second)});
    const Expr body = lang::rename_bound(lang::substitute(value, renamed));
    const lang::AttrsRef group = lang::with_fact(lang::FunctionFact::Primitive);
    const lang::AttrsRef facts = facts_of(body, group);
    if (facts == group) return expr;
    const Expr fn = lang::make_function(params, body->type, body, {}, facts, expr->span);
    return lang::make_call(fn, args, nullptr, expr->span, body->type);
  }

 private:
  // A group none of whose nests takes over what is inherited is like any other.
  lang::AttrsRef facts_of(const Expr& body, const lang::AttrsRef& others) const {
    return lang::inherits_schedule(function_)
               ? lang::with_inherited_schedule(function_, body, others)
               : lang::with_fact(lang::FunctionFact::Schedule, *lang::schedule_of(function_),
                                 others);
  }

  const lang::Function& function_;
  std::unordered_map<const lang::ExprNode*, VariableRef> names_;  // of what a `let` binds
};

Expr scheduled(const Expr& expr) {
  const auto* fn = as<lang::Function>(expr);
  if (!fn || !lang::schedule_of(*fn) || lang::is_group(expr)) return expr;
  return lang::make_function(fn->params, fn->result, Scheduler(*fn).rewrite(fn->body),
                             fn->type_params, fn->attrs, expr->span, expr->type);
}

Expr read_globals(const Expr& expr) {
  const auto* fn = as<lang::Function>(expr);
  if (!fn) return GlobalReader().run(expr);
  const Expr body = GlobalReader().run(fn->body);
  if (body == fn->body) return expr;
  return lang::make_function(fn->params, fn->result, body, fn->type_params, fn->attrs, expr->span,
                             expr->type);
}

}  // namespace

Expr fuse_operators(const Expr& expr, std::size_t most) {
  return scheduled(Fuser(most).block(read_globals(expr)));
}

}  // namespace relay::opt
