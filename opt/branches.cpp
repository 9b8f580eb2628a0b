#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>

#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/record.h"
#include "lang/visit.h"
#include "opt/block_uses.h"
#include "opt/effect.h"
#include "opt/known_values.h"
#include "opt/passes.h"

// Matches on values that are known. What differentiation leaves behind when the halves of a branch
// have come together again is a choice that makes a residual, and later a match that asks which
// choice it was:
//
//   let both = if (c) { (x * x, Left(x)) } else { (-x, Right) };
//   match both.1 { Left(x) => 2.0 * x, Right => -1.0 }
//
// Nobody would write that, and the residual need not exist.

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::ExprKind;
using lang::PatternKind;
using lang::PatternRef;
using lang::VariableRef;
namespace build = lang::build;

namespace {

using Variables = std::unordered_set<const lang::Variable*>;

// Is this the only form that values of the pattern's type have?
bool is_irrefutable(const PatternRef& pattern) {
  if (pattern->kind == PatternKind::Constructor &&
      pattern->constructor->owner->constructors.size() != 1)
    return false;
  return std::all_of(pattern->fields.begin(), pattern->fields.end(), is_irrefutable);
}

class Resolver final : public lang::Rewriter {
 public:
  Resolver(const Expr& root, lang::Program* program) : effects_(program) { known_.learn(root); }

  Expr block(const Expr& expr) {
    Block opened = lang::open_block(expr);
    bool changed = false;
    for (Binding& binding : opened.bindings) {
      Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      binding.value = std::move(value);
    }
    Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    opened.result = std::move(result);
    changed = join_and_narrow(opened) || changed;
    return changed ? lang::close_block(opened) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (lang::is_unit(expr)) return expr;
    return nullptr;
  }

  Expr post(const Expr& expr) override {
    const auto* match = as<lang::Match>(expr);
    if (!match) return expr;
    Expr better = known_clause(*match);
    if (!better) better = same_in_all(*match);
    if (!better) better = taken_apart(expr, *match);
    if (!better) return expr;
    known_.learn(better);
    return better;
  }

 private:
  // --- What is known of a value ---

  // Does the pattern take the value? Nothing where that is not known. Binds its variables.
  std::optional<bool> takes(const PatternRef& pattern, const Expr& atom,
                            lang::Substitution& bound) const {
    switch (pattern->kind) {
      case PatternKind::Wildcard:
        return true;
      case PatternKind::Variable:
        bound[pattern->variable.get()] = atom;
        return true;
      case PatternKind::Tuple: {
        const auto* tuple = as<lang::Tuple>(known_.of(atom));
        if (!tuple) return std::nullopt;
        return take_all(pattern->fields, tuple->fields, bound);
      }
      case PatternKind::Constructor: {
        const auto known = known_.construction(atom);
        if (!known) return std::nullopt;
        if (known->constructor != pattern->constructor) return false;
        return take_all(pattern->fields, known->fields, bound);
      }
    }
    return std::nullopt;
  }

  std::optional<bool> take_all(const std::vector<PatternRef>& patterns,
                               const std::vector<Expr>& atoms, lang::Substitution& bound) const {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const auto taken = takes(patterns[i], atoms[i], bound);
      if (!taken || !*taken) return taken;
    }
    return true;
  }

  // The body of the clause that takes the scrutinee, if that is known; else null.
  Expr known_clause(const lang::Match& match) const {
    for (const lang::Clause& clause : match.clauses) {
      lang::Substitution bound;
      // A variable alone takes everything, and says nothing.
      if (clause.pattern->kind == PatternKind::Variable ||
          clause.pattern->kind == PatternKind::Wildcard) {
        if (!known_.construction(match.scrutinee) && match.clauses.size() > 1) return nullptr;
      }
      const auto taken = takes(clause.pattern, match.scrutinee, bound);
      if (!taken) return nullptr;
      if (*taken) return lang::substitute(clause.body, bound);
    }
    return nullptr;
  }

  // --- Matches that do not choose ---

  // The atom that every clause gives.
  static Expr same_in_all(const lang::Match& match) {
    if (!match.is_complete || match.clauses.size() < 2) return nullptr;
    const Expr& first = match.clauses[0].body;
    if (!build::is_atom(first)) return nullptr;
    for (const lang::Clause& clause : match.clauses) {
      if (!lang::alpha_equal(clause.body, first)) return nullptr;
    }
    const auto* var = as<lang::Var>(first);
    bool is_bound = false;
    lang::for_each_variable(match.clauses[0].pattern, [&](const VariableRef& variable) {
      is_bound = is_bound || (var && var->variable == variable);
    });
    return is_bound ? Expr() : first;
  }

  // let w = p.w; ... body, for the one clause that takes every value. Data types that no person has
  // declared are taken apart only where their value is made.
  static Expr taken_apart(const Expr& expr, const lang::Match& match) {
    if (match.clauses.size() != 1 || lang::as_field_read(match)) return nullptr;
    const lang::Clause& clause = match.clauses[0];
    const bool is_declared = clause.pattern->kind == PatternKind::Constructor &&
                             clause.pattern->constructor->owner->span;
    if (!is_declared || !is_irrefutable(clause.pattern)) return nullptr;
    Variables used;
    for (const auto& variable : lang::free_variables(clause.body)) used.insert(variable.get());
    Block block;
    lang::Substitution bound;
    read_parts(clause.pattern, match.scrutinee, used, expr->span, block, bound);
    block.result = lang::substitute(clause.body, bound);
    return lang::close_block(block);
  }

  static bool reads(const PatternRef& pattern, const Variables& used) {
    bool found = false;
    lang::for_each_variable(pattern, [&](const VariableRef& variable) {
      found = found || used.contains(variable.get());
    });
    return found;
  }

  static void read_parts(const PatternRef& pattern, const Expr& value, const Variables& used,
                         lang::Span span, Block& block, lang::Substitution& bound) {
    if (pattern->kind == PatternKind::Variable) bound[pattern->variable.get()] = value;
    for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
      const PatternRef& field = pattern->fields[i];
      if (!reads(field, used)) continue;
      const Expr part = pattern->kind == PatternKind::Tuple
                            ? build::project(value, static_cast<std::uint32_t>(i))
                            : lang::read_field(value, *pattern->constructor, i, span);
      const std::string name =
          field->kind == PatternKind::Variable ? field->variable->name : std::string("field");
      const VariableRef variable = lang::make_variable(name, part->type, field->span);
      block.bindings.push_back({variable, part, span});
      read_parts(field, lang::make_var(variable), used, span, block, bound);
    }
  }

  // --- Branches in a block ---

  bool join_and_narrow(Block& block) {
    const auto is_with_branch = [](const Binding& binding) { return is_branch(binding.value); };
    if (std::none_of(block.bindings.begin(), block.bindings.end(), is_with_branch)) return false;
    bool changed = false;
    BlockUses uses(block, effects_);
    while (end_with_branch(block, uses) || join_directly(block, uses) ||
           join_branches(block, uses) || narrow_branches(block, uses)) {
      changed = true;
    }
    return changed;
  }

  // let r = if ...; r  becomes the `if` itself.
  static bool end_with_branch(Block& block, BlockUses& uses) {
    if (block.bindings.empty() || !is_branch(block.bindings.back().value)) return false;
    const auto* var = as<lang::Var>(block.result);
    if (!var || !(var->variable == block.bindings.back().variable)) return false;
    block.result = block.bindings.back().value;
    block.bindings.pop_back();
    uses.read(block);
    return true;
  }

  static const Expr& value_at(const Block& block, std::size_t place) {
    return place < block.bindings.size() ? block.bindings[place].value : block.result;
  }

  // How a block uses the tuple (or the value) that a branch gives.
  struct Reads {
    std::vector<std::pair<std::size_t, std::uint32_t>> projections;  // place, field
    bool other = false;
  };
  static Reads reads_of(const VariableRef& variable, const Block& block, const BlockUses& uses) {
    Reads reads;
    for (const std::size_t place : uses.users_of(variable.get())) {
      const auto* projection = as<lang::Projection>(value_at(block, place));
      const auto* var = projection ? as<lang::Var>(projection->tuple) : nullptr;
      if (var && var->variable == variable) {
        reads.projections.emplace_back(place, projection->index);
      } else {
        reads.other = true;
      }
    }
    return reads;
  }

  // The last expressions of the branches, in order.
  static void for_each_leaf(const Expr& expr, const std::function<void(const Expr&)>& visit) {
    const Expr result = lang::open_block(expr).result;
    if (const auto* branch = as<lang::If>(result)) {
      for_each_leaf(branch->then_branch, visit);
      for_each_leaf(branch->else_branch, visit);
    } else if (const auto* match = as<lang::Match>(result)) {
      for (const auto& clause : match->clauses) for_each_leaf(clause.body, visit);
    } else {
      visit(result);
    }
  }

  // The branch with other ends: `change` gets the code of a leaf, and gives what takes its place.
  static Expr with_leaves(const Expr& expr, const lang::Type& type,
                          const std::function<Expr(Block)>& change) {
    Block block = lang::open_block(expr);
    if (const auto* branch = as<lang::If>(block.result)) {
      block.result =
          lang::make_if(branch->condition, with_leaves(branch->then_branch, type, change),
                        with_leaves(branch->else_branch, type, change), block.result->span, type);
      return lang::close_block(block);
    }
    if (const auto* match = as<lang::Match>(block.result)) {
      std::vector<lang::Clause> clauses;
      for (const auto& clause : match->clauses)
        clauses.push_back({clause.pattern, with_leaves(clause.body, type, change)});
      block.result = lang::make_match(match->scrutinee, std::move(clauses), match->is_complete,
                                      block.result->span, type);
      return lang::close_block(block);
    }
    return change(std::move(block));
  }

  // Tuples of which only some fields are read become those fields.
  static bool narrow_branches(Block& block, BlockUses& uses) {
    bool changed = false;
    for (std::size_t i = 0; i < block.bindings.size(); ++i)
      changed = (is_branch(block.bindings[i].value) && narrow(block, i, uses)) || changed;
    return changed;
  }

  static bool narrow(Block& block, std::size_t at, BlockUses& block_uses) {
    Binding& binding = block.bindings[at];
    const auto* tuple = as<lang::TupleType>(binding.value->type);
    if (!tuple || tuple->fields.empty()) return false;
    const Reads uses = reads_of(binding.variable, block, block_uses);
    if (uses.other || uses.projections.empty()) return false;
    std::vector<std::uint32_t> read;
    for (const auto& [place, field] : uses.projections) {
      if (std::find(read.begin(), read.end(), field) == read.end()) read.push_back(field);
    }
    std::sort(read.begin(), read.end());
    if (read.size() == tuple->fields.size() && read.size() > 1) return false;
    bool has_tuple = false;
    with_leaves(binding.value, binding.value->type, [&](const Block& leaf) {
      has_tuple = has_tuple || tuple_of(leaf);
      return leaf.result;
    });
    if (!has_tuple) return false;
    const bool is_one = read.size() == 1;
    std::vector<lang::Type> types;
    for (const auto field : read) types.push_back(tuple->fields[field]);
    const lang::Type type = is_one ? types[0] : lang::tuple_type(types);
    const VariableRef& named_after =
        uses.projections.size() == 1 && uses.projections[0].first < block.bindings.size()
            ? block.bindings[uses.projections[0].first].variable
            : binding.variable;
    const VariableRef narrowed = lang::make_variable(named_after->name, type, named_after->span);
    binding.value = with_leaves(binding.value, type, [&](Block leaf) {
      std::vector<Expr> fields;
      for (const auto field : read) fields.push_back(field_of(leaf, field));
      leaf.result = is_one ? fields[0] : build::tuple(std::move(fields));
      return lang::close_block(leaf);
    });
    binding.variable = narrowed;
    block_uses.change(block, at);
    for (const auto& [place, field] : uses.projections) {
      const auto index = std::find(read.begin(), read.end(), field) - read.begin();
      const Expr use = lang::make_var(narrowed);
      Expr value = is_one ? use : build::project(use, static_cast<std::uint32_t>(index));
      (place == block.bindings.size() ? block.result : block.bindings[place].value) =
          std::move(value);
      block_uses.change(block, place);
    }
    return true;
  }

  // The tuple that is a leaf's result, or null.
  static const lang::Tuple* tuple_of(const Block& leaf) {
    if (const auto* tuple = as<lang::Tuple>(leaf.result)) return tuple;
    const auto* var = as<lang::Var>(leaf.result);
    for (const Binding& binding : leaf.bindings) {
      if (var && binding.variable == var->variable) return as<lang::Tuple>(binding.value);
    }
    return nullptr;
  }

  // The atom of field `index` of a leaf's result.
  static Expr field_of(Block& leaf, std::uint32_t index) {
    if (const auto* tuple = tuple_of(leaf)) return tuple->fields[index];
    if (!build::is_atom(leaf.result)) {
      const VariableRef whole = lang::make_variable("both", leaf.result->type, leaf.result->span);
      leaf.bindings.push_back({whole, leaf.result, leaf.result->span});
      leaf.result = lang::make_var(whole);
    }
    const Expr part = build::project(leaf.result, index);
    const VariableRef variable = lang::make_variable("part", part->type);
    leaf.bindings.push_back({variable, part, {}});
    return lang::make_var(variable);
  }

  // --- A match on what a branch has made ---

  // let shape = if (c) { Circle(r) } else { Empty };
  // match shape { Circle(r) => r * r, Empty => 0.0 }
  // where nothing else needs the shape: each branch ends with its clause.
  bool join_directly(Block& block, BlockUses& uses) {
    for (std::size_t i = 0; i <= block.bindings.size(); ++i) {
      const auto* match = as<lang::Match>(value_at(block, i));
      const auto branch = match ? branch_behind(block, *match, i, uses) : std::nullopt;
      if (!branch) continue;
      const Expr whole = value_at(block, i);  // keeps the match
      Expr joined = with_leaves(block.bindings[*branch].value, whole->type, [&](Block leaf) {
        const Block code = lang::open_block(clause_code(*known_.construction(leaf.result), *match));
        leaf.bindings.insert(leaf.bindings.end(), code.bindings.begin(), code.bindings.end());
        leaf.result = code.result;
        return lang::close_block(leaf);
      });
      known_.learn(joined);
      (i < block.bindings.size() ? block.bindings[i].value : block.result) = std::move(joined);
      block.bindings.erase(block.bindings.begin() + static_cast<std::ptrdiff_t>(*branch));
      uses.read(block);
      return true;
    }
    return false;
  }

  // The branch whose value the match, at `at`, takes apart, where that is all that it is made for,
  // and each of its leaves says which clause is taken.
  std::optional<std::size_t> branch_behind(const Block& block, const lang::Match& match,
                                           std::size_t at, BlockUses& uses) const {
    const auto* var = as<lang::Var>(match.scrutinee);
    const auto place = var ? uses.place_of(var->variable.get()) : std::nullopt;
    if (!place || *place >= at || !is_branch(block.bindings[*place].value) ||
        uses.users_of(var->variable.get()).size() != 1)
      return std::nullopt;
    // Used by the clauses, too?
    for (const lang::Clause& clause : match.clauses) {
      const auto used = lang::free_variables(clause.body);
      if (std::find(used.begin(), used.end(), var->variable) != used.end()) return std::nullopt;
    }
    for (std::size_t i = *place + 1; i < at; ++i) {
      if (uses.has_effect_at(*place) || uses.has_effect_at(i)) return std::nullopt;
    }
    return makes_known(block.bindings[*place].value, std::nullopt, match) ? place : std::nullopt;
  }

  struct Join {
    std::size_t branch;      // the binding with the branch
    std::size_t projection;  // the binding that takes the residual out of its tuple
    std::uint32_t field;
    std::size_t match;  // the binding with the match; as many as there are: the result
  };

  bool join_branches(Block& block, BlockUses& uses) {
    bool changed = false;
    for (std::size_t i = 0; i <= block.bindings.size(); ++i) {
      const auto* match = as<lang::Match>(value_at(block, i));
      const auto join = match ? find_join(block, *match, i, uses) : std::nullopt;
      if (!join) continue;
      if (join_after(block, *join, uses)) {
        changed = true;
        --i;  // where the match stands now
      } else {
        changed = choose_again(block, *join, uses) || changed;
      }
    }
    return changed;
  }

  std::optional<Join> find_join(const Block& block, const lang::Match& match, std::size_t at,
                                const BlockUses& uses) const {
    const auto place_of = [&](const Expr& atom) -> std::optional<std::size_t> {
      const auto* var = as<lang::Var>(atom);
      const auto place = var ? uses.place_of(var->variable.get()) : std::nullopt;
      return place && *place < at ? place : std::nullopt;
    };
    const auto projection = place_of(match.scrutinee);
    if (!projection) return std::nullopt;
    const auto* taken = as<lang::Projection>(block.bindings[*projection].value);
    const auto branch = taken ? place_of(taken->tuple) : std::nullopt;
    if (!branch || !is_branch(block.bindings[*branch].value)) return std::nullopt;
    const Join join{*branch, *projection, taken->index, at};
    // The residual is read by this match alone.
    if (uses.users_of(block.bindings[join.projection].variable.get()).size() != 1)
      return std::nullopt;
    const Reads others = reads_of(block.bindings[join.branch].variable, block, uses);
    int taken_out = 0;
    for (const auto& [place, field] : others.projections) taken_out += field == join.field;
    if (taken_out != 1 || others.other) return std::nullopt;
    if (!makes_known(block.bindings[*branch].value, join.field, match)) return std::nullopt;
    return join;
  }

  // Does each leaf, or a field of it, say which clause is taken, and none twice?
  bool makes_known(const Expr& branch, std::optional<std::uint32_t> field,
                   const lang::Match& match) const {
    std::unordered_set<const lang::Constructor*> made;
    bool is_known = true;
    for_each_leaf(branch, [&](const Expr& leaf) {
      const auto* tuple = field ? as<lang::Tuple>(leaf) : nullptr;
      const auto known = tuple   ? known_.construction(tuple->fields[*field])
                         : field ? std::nullopt
                                 : known_.construction(leaf);
      is_known = is_known && known && made.insert(known->constructor).second &&
                 clause_for(*known, match) != nullptr;
    });
    return is_known;
  }

  static const lang::Clause* clause_for(const Construction& known, const lang::Match& match) {
    for (const lang::Clause& clause : match.clauses) {
      const auto& pattern = *clause.pattern;
      if (pattern.kind != PatternKind::Constructor) return nullptr;
      if (pattern.constructor != known.constructor) continue;
      const bool is_flat =
          std::all_of(pattern.fields.begin(), pattern.fields.end(), [](const PatternRef& field) {
            return field->kind == PatternKind::Variable || field->kind == PatternKind::Wildcard;
          });
      return is_flat ? &clause : nullptr;
    }
    return nullptr;
  }

  // The code of the clause for what the leaf has made.
  Expr clause_code(const Construction& known, const lang::Match& match) const {
    const lang::Clause& clause = *clause_for(known, match);
    lang::Substitution bound;
    for (std::size_t i = 0; i < known.fields.size(); ++i) {
      const PatternRef& field = clause.pattern->fields[i];
      if (field->kind == PatternKind::Variable) bound[field->variable.get()] = known.fields[i];
    }
    return lang::substitute(clause.body, bound);
  }

  // The places between branch and match that need what the branch gives; nothing if the match needs
  // it too, other than through the residual. Looks at what is near the branch first.
  static std::optional<std::unordered_set<std::size_t>> between(const Block& block,
                                                                const Join& join,
                                                                const BlockUses& uses) {
    Variables needed;
    const VariableRef& residual = block.bindings[join.projection].variable;
    for (const VariableRef& variable : uses.used_at(join.match)) {
      if (!(variable == residual)) needed.insert(variable.get());
    }
    std::unordered_set<std::size_t> late;
    std::deque<std::size_t> next{join.branch};
    for (; !next.empty(); next.pop_front()) {
      const lang::Variable* variable = block.bindings[next.front()].variable.get();
      if (needed.contains(variable)) return std::nullopt;
      for (const std::size_t place : uses.users_of(variable)) {
        if (place < join.match && place != join.projection && late.insert(place).second)
          next.push_back(place);
      }
    }
    return late;
  }

  // One branch that does both, where the match needs nothing that was computed from the branch's
  // result.
  bool join_after(Block& block, const Join& join, BlockUses& block_uses) {
    const auto late = between(block, join, block_uses);
    if (!late) return false;
    for (std::size_t i = join.branch + 1; i < join.match; ++i) {
      if (block_uses.has_effect_at(i)) return false;
    }
    const Expr whole = value_at(block, join.match);
    const lang::Match& match = lang::cast<lang::Match>(whole);
    const VariableRef residual = block.bindings[join.projection].variable;
    const Reads uses = reads_of(block.bindings[join.branch].variable, block, block_uses);
    const auto* tuple = as<lang::TupleType>(block.bindings[join.branch].value->type);
    // All fields but the residual stay, and the match's value comes behind them.
    std::vector<lang::Type> types;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      if (i != join.field) types.push_back(tuple->fields[i]);
    }
    types.push_back(whole->type);
    const lang::Type type = lang::tuple_type(types);
    const Expr joined = with_leaves(block.bindings[join.branch].value, type, [&](Block leaf) {
      const auto fields = lang::cast<lang::Tuple>(leaf.result).fields;
      // The clause may use the residual whole.
      const Expr clause =
          lang::substitute(clause_code(*known_.construction(fields[join.field]), match),
                           {{residual.get(), fields[join.field]}});
      const Block code = lang::open_block(clause);
      for (const Binding& binding : code.bindings) leaf.bindings.push_back(binding);
      std::vector<Expr> results;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i != join.field) results.push_back(fields[i]);
      }
      results.push_back(named(leaf, code.result));
      leaf.result = build::tuple(std::move(results));
      return lang::close_block(leaf);
    });
    known_.learn(joined);
    const VariableRef all = lang::make_variable(block.bindings[join.branch].variable->name, type);
    Block next;
    const auto keep = [&](std::size_t i) {
      Binding binding = block.bindings[i];
      for (const auto& [place, field] : uses.projections) {
        if (place == i)
          binding.value =
              build::project(lang::make_var(all), field < join.field ? field : field - 1);
      }
      next.bindings.push_back(std::move(binding));
    };
    for (std::size_t i = 0; i < join.match; ++i) {
      if (i != join.branch && i != join.projection && !late->contains(i)) keep(i);
    }
    next.bindings.push_back({all, joined, block.bindings[join.branch].span});
    const Expr last =
        build::project(lang::make_var(all), static_cast<std::uint32_t>(types.size() - 1));
    for (std::size_t i = join.branch + 1; i < join.match; ++i) {
      if (late->contains(i)) keep(i);
    }
    if (join.match < block.bindings.size()) {
      next.bindings.push_back(
          {block.bindings[join.match].variable, last, block.bindings[join.match].span});
      for (std::size_t i = join.match + 1; i < block.bindings.size(); ++i) keep(i);
      next.result = block.result;
    } else {
      next.result = last;
    }
    for (const auto& [place, field] : uses.projections) {
      if (place == block.bindings.size() && join.match < place)
        next.result = build::project(lang::make_var(all), field < join.field ? field : field - 1);
    }
    block = std::move(next);
    block_uses.read(block);
    return true;
  }

  static Expr named(Block& leaf, const Expr& value) {
    if (build::is_atom(value)) return value;
    const VariableRef variable = lang::make_variable("v", value->type, value->span);
    leaf.bindings.push_back({variable, value, value->span});
    return lang::make_var(variable);
  }

  // The same choice once more, where it needs nothing that the first one has computed.
  bool choose_again(Block& block, const Join& join, BlockUses& uses) {
    const lang::Match& match = lang::cast<lang::Match>(value_at(block, join.match));
    const Expr& branch = block.bindings[join.branch].value;
    std::optional<Expr> again = chosen_again(branch, join.field, match, {});
    if (!again) return false;
    Expr renamed = lang::rename_bound(*again);
    known_.learn(renamed);
    (join.match < block.bindings.size() ? block.bindings[join.match].value : block.result) =
        std::move(renamed);
    uses.change(block, join.match);
    return true;
  }

  // `local`: what the patterns around have bound, which the copy binds too.
  std::optional<Expr> chosen_again(const Expr& expr, std::uint32_t field, const lang::Match& match,
                                   const Variables& own) const {
    const Block block = lang::open_block(expr);
    Variables inside = own;
    for (const Binding& binding : block.bindings) inside.insert(binding.variable.get());
    const auto is_local = [&](const Expr& atom) {
      const auto* var = as<lang::Var>(atom);
      return var && inside.contains(var->variable.get());
    };
    if (const auto* branch = as<lang::If>(block.result)) {
      if (is_local(branch->condition)) return std::nullopt;
      auto yes = chosen_again(branch->then_branch, field, match, inside);
      auto no = chosen_again(branch->else_branch, field, match, inside);
      if (!yes || !no) return std::nullopt;
      return lang::make_if(branch->condition, *yes, *no, block.result->span, match.type);
    }
    if (const auto* inner = as<lang::Match>(block.result)) {
      if (is_local(inner->scrutinee)) return std::nullopt;
      std::vector<lang::Clause> clauses;
      for (const auto& clause : inner->clauses) {
        auto body = chosen_again(clause.body, field, match, inside);
        if (!body) return std::nullopt;
        clauses.push_back({clause.pattern, *body});
      }
      return lang::make_match(inner->scrutinee, std::move(clauses), inner->is_complete,
                              block.result->span, match.type);
    }
    const auto known = known_.construction(lang::cast<lang::Tuple>(block.result).fields[field]);
    if (std::any_of(known->fields.begin(), known->fields.end(), is_local)) return std::nullopt;
    return clause_code(*known, match);
  }

  KnownValues known_;
  Effects effects_;
};

}  // namespace

Expr resolve_branches(const Expr& expr, lang::Program* program) {
  return Resolver(expr, program).rewrite(expr);
}

}  // namespace relay::opt
