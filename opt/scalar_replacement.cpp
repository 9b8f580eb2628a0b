#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/block_uses.h"
#include "opt/definitions.h"
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
// Nothing is put into a cell then, small tensors stay on the stack, and a kernel can hold it all.

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::ExprKind;
using lang::PatternKind;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// Of a tensor that the other branches have to fill with something.
constexpr std::int64_t kMostElements = 64;

// What stands in the place of a field where a branch has none; null where that would be work.
Expr filler(const lang::Type& type) {
  const auto extents = constant_extents(type);
  const auto* tensor = as<lang::TensorType>(type);
  if (!extents || !tensor->dtype.is_known()) return nullptr;
  std::int64_t elements = 1;
  for (const std::int64_t extent : *extents) {
    if (extent < 1 || extent > kMostElements) return nullptr;
    elements *= extent;
    if (elements > kMostElements) return nullptr;
  }
  if (extents->empty()) return build::constant(tensor->dtype.known(), 0);
  lang::TensorRef zeros = lang::Tensor::make(tensor->dtype.known(), *extents);
  std::fill_n(zeros->data(),
              static_cast<std::size_t>(elements) * lang::size_of(tensor->dtype.known()),
              std::byte{0});
  return lang::make_constant(std::move(zeros));
}

bool is_data(const lang::Type& type) { return as<lang::AdtType>(type) != nullptr; }

// Is it a branch that gives data, alone or in a tuple?
bool gives_data(const Expr& expr) {
  if (!is_branch(expr)) return false;
  const auto* tuple = as<lang::TupleType>(expr->type);
  return is_data(expr->type) ||
         (tuple && std::any_of(tuple->fields.begin(), tuple->fields.end(), is_data));
}

// The clauses of a match whose patterns are constructors of variables, by constructor; empty for
// any other match.
using Clauses = std::unordered_map<const lang::Constructor*, const lang::Clause*>;
Clauses flat_clauses(const lang::Match& match) {
  Clauses clauses;
  for (const lang::Clause& clause : match.clauses) {
    const lang::Pattern& pattern = *clause.pattern;
    const bool is_flat =
        pattern.kind == PatternKind::Constructor &&
        std::all_of(
            pattern.fields.begin(), pattern.fields.end(), [](const lang::PatternRef& field) {
              return field->kind == PatternKind::Variable || field->kind == PatternKind::Wildcard;
            });
    if (!is_flat) return {};
    clauses.emplace(pattern.constructor, &clause);
  }
  return clauses;
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

// Which fields of what a branch makes are read anywhere.
class FieldsRead {
 public:
  // Whether each of the matches is one that can choose by the branch.
  bool learn(const Matches& matches) {
    matches_ = matches.all.size();
    for (const lang::Match* match : matches.all) {
      const Clauses clauses = flat_clauses(*match);
      if (clauses.empty()) return false;
      for (const auto& [constructor, clause] : clauses) {
        const auto used = lang::free_variables(clause->body);
        Constructor& known = constructors_[constructor];
        ++known.clauses;
        known.is_read.resize(constructor->fields.size());
        for (std::size_t i = 0; i < known.is_read.size(); ++i) {
          const auto& field = clause->pattern->fields[i];
          const bool is_used = field->kind == PatternKind::Variable &&
                               std::find(used.begin(), used.end(), field->variable) != used.end();
          known.is_read[i] = known.is_read[i] || is_used;
        }
      }
    }
    return true;
  }
  // Has every match a clause for it?
  bool takes(const lang::Constructor* constructor) const {
    const auto found = constructors_.find(constructor);
    return found != constructors_.end() && found->second.clauses == matches_;
  }
  bool operator()(const lang::Constructor* constructor, std::size_t field) const {
    return constructors_.at(constructor).is_read[field];
  }

 private:
  struct Constructor {
    std::size_t clauses = 0;
    std::vector<bool> is_read;
  };
  std::unordered_map<const lang::Constructor*, Constructor> constructors_;
  std::size_t matches_ = 0;
};

// A field has no filler, or the code has another form.
struct Refused {};

// One choice between data, and how it is made again.
class Choice {
 public:
  // `field`: of the tuple that the branch gives; nothing where it gives the data themselves.
  Choice(const Expr& branch, std::optional<std::uint32_t> field, const FieldsRead& read,
         const KnownValues& known)
      : field_(field), read_(read), known_(known) {
    root_ = look_at(branch, {}, {});
  }

  // The branch, whose tuples have the slots behind their fields and no data: data alone give way to
  // the slots.
  Expr with_slots(const Expr& branch) {
    std::vector<lang::Type> types;
    if (field_) types = without_data(as<lang::TupleType>(branch->type)->fields);
    own_fields_ = types.size();
    for (const VariableRef& slot : slots_) types.push_back(slot->type);
    return rebuilt(branch, *root_, lang::tuple_type(types), {});
  }

  // The slots, taken out of what with_slots() gives.
  std::vector<Binding> projections(const VariableRef& all) const {
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      bindings.push_back({slots_[i], build::project(lang::make_var(all),
                                                    static_cast<std::uint32_t>(own_fields_ + i))});
    return bindings;
  }

  // The match, as the choice made again.
  Expr again(const lang::Match& match) const {
    const Expr chosen = chosen_again(*root_, match, flat_clauses(match));
    return has_patterns_ ? lang::rename_bound(chosen) : chosen;
  }

 private:
  // A value that is local to a branch, and the slot that carries it out.
  struct Carried {
    std::size_t slot;
    Expr atom;
  };
  // A choice, or a leaf of the tree.
  struct Node {
    Expr branch;     // an If or a Match; null for a leaf
    Expr condition;  // or scrutinee, as it is known outside
    std::vector<Carried> carried;
    std::vector<std::unique_ptr<Node>> children;
    // Of a leaf: what it makes, the fields as they are known outside.
    std::optional<Construction> made = {};
  };
  using Variables = std::unordered_set<const lang::Variable*>;

  // `own`: what is bound inside. `taken`: the slots in use on the way here.
  std::unique_ptr<Node> look_at(const Expr& code, Variables own, std::vector<Carried> taken) {
    const Block block = lang::open_block(code);
    for (const Binding& binding : block.bindings) own.insert(binding.variable.get());
    auto node = std::make_unique<Node>();
    if (!is_branch(block.result)) {
      leaf(block.result, own, taken, *node);
      return node;
    }
    node->branch = block.result;
    if (const auto* branch = as<lang::If>(block.result)) {
      node->condition = outside(branch->condition, own, taken, *node);
      node->children.push_back(look_at(branch->then_branch, own, taken));
      node->children.push_back(look_at(branch->else_branch, own, taken));
      return node;
    }
    has_patterns_ = true;  // bound once more where the choice is made again
    const auto& match = lang::cast<lang::Match>(block.result);
    node->condition = outside(match.scrutinee, own, taken, *node);
    for (const lang::Clause& clause : match.clauses)
      node->children.push_back(look_at(clause.body, own, taken));
    return node;
  }

  void leaf(const Expr& result, const Variables& own, std::vector<Carried>& taken, Node& node) {
    Expr atom = result;
    if (field_) {
      const auto* tuple = as<lang::Tuple>(known_.of(result));
      if (!tuple) throw Refused{};
      atom = tuple->fields[*field_];
    }
    node.made = known_.construction(atom);
    if (!node.made || !read_.takes(node.made->constructor)) throw Refused{};
    // The code of a clause has one place to go to.
    if (!made_.insert(node.made->constructor).second) throw Refused{};
    for (std::size_t i = 0; i < node.made->fields.size(); ++i) {
      if (read_(node.made->constructor, i))
        node.made->fields[i] = outside(node.made->fields[i], own, taken, node);
    }
  }

  // The atom, or the slot that carries it out.
  Expr outside(const Expr& atom, const Variables& own, std::vector<Carried>& taken, Node& node) {
    const auto* var = as<lang::Var>(atom);
    if (!var && !build::is_atom(atom)) throw Refused{};
    if (!var || !own.contains(var->variable.get())) return atom;
    for (const Carried& each : taken) {
      if (lang::cast<lang::Var>(each.atom).variable == var->variable)
        return lang::make_var(slots_[each.slot]);
    }
    const auto is_free = [&](std::size_t slot) {
      return lang::equal(slots_[slot]->type, atom->type) &&
             std::none_of(taken.begin(), taken.end(),
                          [&](const Carried& each) { return each.slot == slot; });
    };
    std::size_t slot = 0;
    while (slot < slots_.size() && !is_free(slot)) ++slot;
    if (slot == slots_.size()) {
      const Expr zero = filler(atom->type);
      if (!zero) throw Refused{};
      slots_.push_back(lang::make_variable(var->variable->name, atom->type, var->variable->span));
      fillers_.push_back(zero);
    }
    taken.push_back({slot, atom});
    node.carried.push_back({slot, atom});
    return lang::make_var(slots_[slot]);
  }

  // `carried`: by the nodes on the way here.
  Expr rebuilt(const Expr& code, const Node& node, const lang::Type& type,
               std::vector<Carried> carried) const {
    carried.insert(carried.end(), node.carried.begin(), node.carried.end());
    Block block = lang::open_block(code);
    if (node.made) {
      block.result = leaf_tuple(block.result, carried);
    } else if (const auto* branch = as<lang::If>(block.result)) {
      block.result = lang::make_if(
          branch->condition, rebuilt(branch->then_branch, *node.children[0], type, carried),
          rebuilt(branch->else_branch, *node.children[1], type, carried), block.result->span, type);
    } else {
      const auto& match = lang::cast<lang::Match>(block.result);
      std::vector<lang::Clause> clauses;
      for (std::size_t i = 0; i < match.clauses.size(); ++i)
        clauses.push_back({match.clauses[i].pattern,
                           rebuilt(match.clauses[i].body, *node.children[i], type, carried)});
      block.result = lang::make_match(match.scrutinee, std::move(clauses), match.is_complete,
                                      block.result->span, type);
    }
    return lang::close_block(block);
  }

  template <class Part>
  std::vector<Part> without_data(std::vector<Part> parts) const {
    parts.erase(parts.begin() + *field_);
    return parts;
  }

  Expr leaf_tuple(const Expr& result, const std::vector<Carried>& carried) const {
    std::vector<Expr> fields;
    if (field_) fields = without_data(lang::cast<lang::Tuple>(known_.of(result)).fields);
    fields.insert(fields.end(), fillers_.begin(), fillers_.end());
    for (const auto& [slot, atom] : carried) fields[own_fields_ + slot] = atom;
    return build::tuple(std::move(fields));
  }

  Expr chosen_again(const Node& node, const lang::Match& match, const Clauses& clauses) const {
    if (node.made) {
      const lang::Clause& clause = *clauses.at(node.made->constructor);
      lang::Substitution bound;
      for (std::size_t i = 0; i < node.made->fields.size(); ++i) {
        const lang::PatternRef& field = clause.pattern->fields[i];
        if (field->kind == PatternKind::Variable)
          bound[field->variable.get()] = node.made->fields[i];
      }
      return lang::substitute(clause.body, bound);
    }
    std::vector<Expr> chosen;
    for (const auto& child : node.children) chosen.push_back(chosen_again(*child, match, clauses));
    if (const auto* branch = as<lang::If>(node.branch))
      return lang::make_if(node.condition, chosen[0], chosen[1], branch->span, match.type);
    const auto& inner = lang::cast<lang::Match>(node.branch);
    std::vector<lang::Clause> all;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      all.push_back({inner.clauses[i].pattern, chosen[i]});
    return lang::make_match(node.condition, std::move(all), inner.is_complete, inner.span,
                            match.type);
  }

  const std::optional<std::uint32_t> field_;
  const FieldsRead& read_;
  const KnownValues& known_;
  std::unique_ptr<Node> root_;
  std::unordered_set<const lang::Constructor*> made_;
  bool has_patterns_ = false;
  std::vector<VariableRef> slots_;
  std::vector<Expr> fillers_;
  std::size_t own_fields_ = 0;
};

// The matches of one piece of data are replaced.
class MatchReplacer final : public lang::Rewriter {
 public:
  MatchReplacer(const VariableRef& data, const Choice& choice) : data_(data), choice_(choice) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* match = as<lang::Match>(expr);
    const auto* var = match ? as<lang::Var>(match->scrutinee) : nullptr;
    return var && var->variable == data_ ? choice_.again(*match) : expr;
  }

 private:
  const VariableRef& data_;
  const Choice& choice_;
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
    FieldsRead read;
    if (!matches.is_only_use || matches.all.empty() || !read.learn(matches)) return false;
    try {
      Choice choice(block_.bindings[at].value, field, read, known_);
      for (const std::size_t place : users) {
        value_at(place) = MatchReplacer(data, choice).rewrite(value_at(place));
        known_.learn(value_at(place));
      }
      Binding& branch = block_.bindings[at];
      branch.value = choice.with_slots(branch.value);
      branch.variable =
          lang::make_variable(branch.variable->name, branch.value->type, branch.variable->span);
      if (field) {
        dead_.insert(named);
        for (const std::size_t place : reads) {
          if (!dead_.contains(place)) read_again(value_at(place), branch.variable, *field);
        }
        for (Binding& slot : slots) read_again(slot.value, branch.variable, *field);
      }
      for (Binding& slot : choice.projections(branch.variable)) slots.push_back(std::move(slot));
      return true;
    } catch (const Refused&) {
      return false;
    }
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
