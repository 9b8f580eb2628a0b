#include "opt/parallel_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lang/build.h"
#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/effect.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

namespace {

// The order that bindings of a block impose on one another. A group of them counts as one.
class BlockOrder {
 public:
  BlockOrder(const lang::Block& block, Effects& effects) : before_(block.bindings.size()) {
    lang::PointerMap<lang::Variable, std::size_t> places;
    std::optional<std::size_t> last_effect;
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      const lang::Binding& binding = block.bindings[i];
      for (const auto& used : lang::free_variables(binding.value)) {
        if (const std::size_t* place = places.find(used.get())) before_[i].push_back(*place);
      }
      if (effects.has_effect(binding.value)) {
        if (last_effect) before_[i].push_back(*last_effect);
        last_effect = i;
      }
      places[binding.variable.get()] = i;
    }
  }

  // Must one of `earlier` stand before `place`?
  bool depends(std::size_t place, const std::vector<std::size_t>& earlier) const {
    const std::set<std::size_t> wanted(earlier.begin(), earlier.end());
    const std::size_t first = earlier.front();
    std::set<std::size_t> seen = {place};
    std::vector<std::size_t> open = {place};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      for (const std::size_t each : before_[next]) {
        if (wanted.contains(each)) return true;
        if (each > first && seen.insert(each).second) open.push_back(each);
      }
    }
    return false;
  }

  // What must stand before `place`, all that follows from it included, among those from `first` on.
  void collect(std::size_t place, std::size_t first, std::set<std::size_t>& found) const {
    std::vector<std::size_t> open = {place};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      for (const std::size_t each : before_[next]) {
        if (each >= first && found.insert(each).second) open.push_back(each);
      }
    }
  }

 private:
  std::vector<std::vector<std::size_t>> before_;
};

class CallJoiner final : public lang::Rewriter {
 public:
  CallJoiner(const ParallelCalls& calls, std::size_t least, lang::Program* program)
      : calls_(calls), least_(least), effects_(program) {}

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }

 private:
  using Group = std::vector<std::size_t>;

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    for (lang::Binding& binding : opened.bindings) {
      effects_.define(binding.variable, binding.value);
      Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      binding.value = std::move(value);
    }
    Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    opened.result = std::move(result);
    // Joining moves bindings, so places are looked at anew after each time.
    std::set<const lang::Variable*> done;
    while (join_one(opened, done)) changed = true;
    return changed ? lang::close_block(opened) : expr;
  }

  // Joins the first group that there is; `done` holds the variables of calls that have been tried.
  bool join_one(lang::Block& block, std::set<const lang::Variable*>& done) {
    std::map<std::pair<const lang::Variable*, std::string>, Group> kinds;
    std::vector<const Group*> in_order;
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      const auto* call = call_of(block.bindings[i].value, calls_.op);
      const auto* input = call ? as<lang::Var>(call->args[0]) : nullptr;
      if (!input || done.contains(block.bindings[i].variable.get())) continue;
      const std::string kind = calls_.kind(*call);
      if (kind.empty()) continue;
      Group& group = kinds[{input->variable.get(), kind}];
      if (group.empty()) in_order.push_back(&group);
      group.push_back(i);
    }
    std::erase_if(in_order, [&](const Group* group) { return group->size() < least_; });
    if (in_order.empty()) return false;
    const BlockOrder order(block, effects_);
    for (const Group* group : in_order) {
      done.insert(block.bindings[group->front()].variable.get());
      Group members = {group->front()};
      for (std::size_t i = 1; i < group->size(); ++i) {
        if (!order.depends((*group)[i], members)) members.push_back((*group)[i]);
      }
      if (members.size() < least_) continue;
      for (const std::size_t place : members) done.insert(block.bindings[place].variable.get());
      join(block, members, order);
      return true;
    }
    return false;
  }

  // What all members need moves in front of the first of them, the joined call behind that.
  void join(lang::Block& block, const Group& members, const BlockOrder& order) {
    std::vector<const lang::Call*> calls;
    std::set<std::size_t> needed;
    for (const std::size_t place : members) {
      calls.push_back(as<lang::Call>(block.bindings[place].value));
      order.collect(place, members.front(), needed);
    }
    const lang::AlgebraScope scope(calls.front()->algebra);
    const Expr joined = calls_.joined(calls);
    const lang::VariableRef variable = lang::make_variable("joined", joined->type);
    const std::vector<Expr> parts = calls_.parts(lang::make_var(variable), calls);
    std::vector<lang::Binding> made(
        block.bindings.begin(),
        block.bindings.begin() + static_cast<std::ptrdiff_t>(members.front()));
    for (const std::size_t place : needed) made.push_back(block.bindings[place]);
    made.push_back({variable, joined, block.bindings[members.front()].span});
    for (std::size_t i = 0; i < members.size(); ++i) {
      const lang::Binding& binding = block.bindings[members[i]];
      made.push_back(
          {binding.variable, lang::with_type(parts[i], binding.value->type), binding.span});
      needed.insert(members[i]);
    }
    for (std::size_t i = members.front(); i < block.bindings.size(); ++i) {
      if (!needed.contains(i)) made.push_back(block.bindings[i]);
    }
    block.bindings = std::move(made);
  }

  const ParallelCalls& calls_;
  const std::size_t least_;
  Effects effects_;
};

}  // namespace

Pass joining(Pass pass, std::function<ParallelCalls(const lang::Attrs& options)> calls) {
  pass.options.insert(pass.options.begin(), {"min_num_branches", lang::AttrKind::Int,
                                             lang::AttrValue(3), "how many there must be"});
  pass.keeps = Keeps::Rounding;
  pass.level = 4;
  pass.run = [calls = std::move(calls)](PassProgram& program, const lang::Attrs& options) {
    const auto least =
        static_cast<std::size_t>(std::max<std::int64_t>(2, options.get_int("min_num_branches")));
    const ParallelCalls wanted = calls(options);
    program.each([&](const Expr& fn) { return CallJoiner(wanted, least, &program).rewrite(fn); });
  };
  return pass;
}

Expr joined_seconds(const std::vector<const lang::Call*>& calls, std::size_t axis) {
  std::vector<Expr> tensors;
  for (const auto* call : calls) tensors.push_back(call->args[1]);
  return build::op("concatenate", {build::tuple(std::move(tensors))},
                   {{"axis", static_cast<std::int64_t>(axis)}});
}

std::vector<std::int64_t> extents_of_seconds(const std::vector<const lang::Call*>& calls,
                                             std::size_t axis) {
  std::vector<std::int64_t> extents;
  for (const auto* call : calls) extents.push_back(*known_extent(call->args[1], axis));
  return extents;
}

std::vector<Expr> parts_along(const Expr& tensor, std::size_t axis,
                              const std::vector<std::int64_t>& extents) {
  std::vector<Expr> parts;
  std::int64_t begin = 0;
  const auto axes = lang::AttrValue::ints({static_cast<std::int64_t>(axis)});
  for (const std::int64_t extent : extents) {
    parts.push_back(build::op("strided_slice", {tensor},
                              {{"begin", lang::AttrValue::ints({begin})},
                               {"end", lang::AttrValue::ints({begin + extent})},
                               {"axes", axes}}));
    begin += extent;
  }
  return parts;
}

std::optional<std::int64_t> known_extent(const Expr& tensor, std::size_t axis) {
  const lang::Dim& dim = as<lang::TensorType>(tensor->type)->shape[axis];
  return dim.is_constant() ? std::optional(dim.constant()) : std::nullopt;
}

}  // namespace relay::opt
