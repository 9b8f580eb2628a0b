#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/block_uses.h"
#include "opt/data_choice.h"
#include "opt/effect.h"
#include "opt/known_values.h"
#include "opt/passes.h"

// Data that a branch makes and matches take apart, as its fields. What differentiation leaves
// behind is a choice that makes a residual, and further on, where what the choice gave has been
// used, a match:
//
//   let both = if (c) { (x * x, Left(x * y)) } else { (-x, Right) };
//   let g = sin(both.0) * adj;
//   match both.1 { Left(a) => a * g, Right => -g }
//
// The choice gives the fields instead, and the match chooses once more:
//
//   let both = if (c) { (x * x, x * y) } else { (-x, 0.0) };
//   let g = sin(both.0) * adj;
//   if (c) { both.1 * g } else { -g }
//
// Where two places of the choice make the same constructor, the code of a clause would stand twice.
// Such a choice gives the number of the constructor with the fields, and each match asks for that:
//
//   let both = if (c) { (x, Some(y)) } else { if (d) { (-x, Some(z)) } else { (x, None) } };
//   match both.1 { Some(a) => f(a), None => g() }
//
//   let both = if (c) { (x, y, 0) } else { if (d) { (-x, z, 0) } else { (x, 0.0, 1) } };
//   if (both.2 == 0) { f(both.1) } else { g() }
//
// Nothing is put into a cell then, small tensors stay on the stack, and a kernel can hold it all.

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::ExprKind;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool is_data(const lang::Type& type) { return as<lang::AdtType>(type) != nullptr; }

// Is it a branch that gives data, alone or in a tuple?
bool gives_data(const Expr& expr) {
  if (!is_branch(expr)) return false;
  const auto* tuple = as<lang::TupleType>(expr->type);
  return is_data(expr->type) ||
         (tuple && std::any_of(tuple->fields.begin(), tuple->fields.end(), is_data));
}

// The matches on a variable, if nothing else uses it.
struct Matches {
  std::vector<const lang::Match*> all;
  bool is_only_use = true;
};

void find_matches(const Expr& code, const VariableRef& variable, Matches& found) {
  const auto is_it = [&](const Expr& expr) {
    const auto* var = as<lang::Var>(expr);
    return var && var->variable == variable;
  };
  std::size_t uses = 0;
  std::size_t matched = 0;
  lang::visit_post_order(code, [&](const Expr& node) {
    lang::for_each_child(node, [&](const Expr& child) { uses += is_it(child); });
    if (node->kind == ExprKind::Function) {  // it would have to capture each field
      for (const VariableRef& each : lang::free_variables(node))
        found.is_only_use = found.is_only_use && !(each == variable);
    }
    const auto* match = as<lang::Match>(node);
    if (!match || !is_it(match->scrutinee)) return;
    ++matched;
    found.all.push_back(match);
  });
  found.is_only_use = found.is_only_use && uses == matched && !is_it(code);
}

// The matches of one piece of data are replaced.
class MatchReplacer final : public lang::Rewriter {
 public:
  MatchReplacer(const VariableRef& data, const DataChoice& choice) : data_(data), choice_(choice) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* match = as<lang::Match>(expr);
    const auto* var = match ? as<lang::Var>(match->scrutinee) : nullptr;
    return var && var->variable == data_ ? choice_.again(*match) : expr;
  }

 private:
  const VariableRef& data_;
  const DataChoice& choice_;
};

// The branches of one block. Places stay as they are until the end, so that all of it takes time in
// proportion to the uses.
class BlockReplacer {
 public:
  BlockReplacer(Block& block, KnownValues& known, Effects& effects)
      : block_(block), known_(known), uses_(block, effects) {}

  bool run() {
    bool changed = false;
    std::vector<Binding> all;
    for (std::size_t at = 0; at < block_.bindings.size(); ++at) {
      std::vector<Binding> slots;
      if (gives_data(block_.bindings[at].value)) changed = replace(at, slots) || changed;
      // By now what stands before this place has changed all it can.
      if (!dead_.contains(at)) all.push_back(block_.bindings[at]);
      all.insert(all.end(), slots.begin(), slots.end());
    }
    block_.bindings = std::move(all);
    return changed;
  }

 private:
  Expr& value_at(std::size_t place) {
    return place < block_.bindings.size() ? block_.bindings[place].value : block_.result;
  }

  // All data that the branch gives, alone or in a tuple of which nothing but the fields is used.
  bool replace(std::size_t at, std::vector<Binding>& slots) {
    const VariableRef given = block_.bindings[at].variable;
    if (is_data(given->type)) return replace(at, at, std::nullopt, {}, slots);
    const std::vector<std::size_t> reads = uses_.users_of(given.get());
    const auto is_projection = [&](std::size_t place) {
      return value_at(place)->kind == ExprKind::Projection;
    };
    if (!std::all_of(reads.begin(), reads.end(), is_projection)) return false;
    bool changed = false;
    for (const std::size_t place : reads) {
      if (place == block_.bindings.size() || dead_.contains(place)) continue;
      const auto& projection = lang::cast<lang::Projection>(value_at(place));
      if (!is_data(projection.type) || is_read_twice(reads, projection.index)) continue;
      changed = replace(at, place, projection.index, reads, slots) || changed;
    }
    return changed;
  }
  bool is_read_twice(const std::vector<std::size_t>& reads, std::uint32_t field) {
    return std::count_if(reads.begin(), reads.end(), [&](std::size_t place) {
             return !dead_.contains(place) &&
                    lang::cast<lang::Projection>(value_at(place)).index == field;
           }) > 1;
  }

  // `named`: the place of the data themselves. `reads`: the places where fields are taken out.
  bool replace(std::size_t at, std::size_t named, std::optional<std::uint32_t> field,
               const std::vector<std::size_t>& reads, std::vector<Binding>& slots) {
    const VariableRef data = block_.bindings[named].variable;
    const std::vector<std::size_t> users = uses_.users_of(data.get());
    Matches matches;
    for (const std::size_t place : users) find_matches(value_at(place), data, matches);
    if (!matches.is_only_use || matches.all.empty()) return false;
    const auto choice = DataChoice::of(block_.bindings[at].value, field, matches.all, known_);
    if (!choice) return false;
    for (const std::size_t place : users) {
      value_at(place) = MatchReplacer(data, *choice).rewrite(value_at(place));
      known_.learn(value_at(place));
    }
    Binding& branch = block_.bindings[at];
    branch.value = choice->with_slots(branch.value);
    branch.variable =
        lang::make_variable(branch.variable->name, branch.value->type, branch.variable->span);
    if (field) {
      dead_.insert(named);
      for (const std::size_t place : reads) {
        if (!dead_.contains(place)) read_again(value_at(place), branch.variable, *field);
      }
      for (Binding& slot : slots) read_again(slot.value, branch.variable, *field);
    }
    for (Binding& slot : choice->projections(branch.variable)) slots.push_back(std::move(slot));
    return true;
  }
  // A projection, of what has no field `gone` any more.
  static void read_again(Expr& read, const VariableRef& tuple, std::uint32_t gone) {
    const std::uint32_t field = lang::cast<lang::Projection>(read).index;
    read = build::project(lang::make_var(tuple), field - (field > gone ? 1 : 0));
  }

  Block& block_;
  KnownValues& known_;
  BlockUses uses_;
  std::unordered_set<std::size_t> dead_;  // places of data that have given way to their fields
};

// In all blocks.
class Replacer final : public lang::Rewriter {
 public:
  Replacer(const Expr& root, lang::Program* program) : effects_(program) { known_.learn(root); }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind != ExprKind::Let) return nullptr;
    Block block = lang::open_block(expr);
    bool changed = false;
    const auto has_data = [](const Binding& binding) { return gives_data(binding.value); };
    if (std::any_of(block.bindings.begin(), block.bindings.end(), has_data))
      changed = BlockReplacer(block, known_, effects_).run();
    for (Binding& binding : block.bindings) changed = into(binding.value) || changed;
    changed = into(block.result) || changed;
    return changed ? lang::close_block(block) : expr;
  }

 private:
  bool into(Expr& value) {
    Expr next = rewrite(value);
    if (next == value) return false;
    value = std::move(next);
    return true;
  }

  KnownValues known_;
  Effects effects_;
};

}  // namespace

Expr replace_data_by_fields(const Expr& expr, lang::Program* program) {
  return Replacer(expr, program).rewrite(expr);
}

}  // namespace relay::opt
