#include "opt/data_choice.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>

#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Block;
using lang::Expr;
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

// The clauses of a match whose patterns are constructors of variables, the last perhaps `_`.
class Clauses {
 public:
  explicit Clauses(const lang::Match& match) {
    for (const lang::Clause& clause : match.clauses) {
      const lang::Pattern& pattern = *clause.pattern;
      if (pattern.kind == PatternKind::Wildcard) {
        if (!rest_) rest_ = &clause;
        continue;
      }
      const bool is_flat_one =
          pattern.kind == PatternKind::Constructor &&
          std::all_of(
              pattern.fields.begin(), pattern.fields.end(), [](const lang::PatternRef& field) {
                return field->kind == PatternKind::Variable || field->kind == PatternKind::Wildcard;
              });
      is_flat = is_flat && is_flat_one;
      if (is_flat_one && !rest_) clauses_.emplace(pattern.constructor, &clause);
    }
  }
  // Null where it has none.
  const lang::Clause* of(const lang::Constructor* constructor) const {
    const auto found = clauses_.find(constructor);
    return found == clauses_.end() ? rest_ : found->second;
  }

  bool is_flat = true;

 private:
  std::unordered_map<const lang::Constructor*, const lang::Clause*> clauses_;
  const lang::Clause* rest_ = nullptr;
};

// What matches on the same data read of them.
class FieldsRead {
 public:
  explicit FieldsRead(const std::vector<const lang::Match*>& matches) {
    for (const lang::Match* match : matches) clauses_.emplace_back(*match);
  }
  bool are_flat() const {
    return std::all_of(clauses_.begin(), clauses_.end(),
                       [](const Clauses& each) { return each.is_flat; });
  }
  // By field, whether a match reads it; nothing where a match has no clause for the constructor.
  const std::optional<std::vector<bool>>& of(const lang::Constructor* constructor) {
    const auto [known, is_new] = fields_.try_emplace(constructor);
    if (!is_new) return known->second;
    std::vector<bool> is_read(constructor->fields.size());
    for (const Clauses& each : clauses_) {
      const lang::Clause* clause = each.of(constructor);
      if (!clause) return known->second;
      if (clause->pattern->kind == PatternKind::Wildcard) continue;
      const auto used = lang::free_variables(clause->body);
      for (std::size_t i = 0; i < is_read.size(); ++i) {
        const auto& field = clause->pattern->fields[i];
        const bool is_used = field->kind == PatternKind::Variable &&
                             std::find(used.begin(), used.end(), field->variable) != used.end();
        is_read[i] = is_read[i] || is_used;
      }
    }
    known->second = std::move(is_read);
    return known->second;
  }
  // The places in the code where a constructor's clauses stand. Two constructors share them where
  // `_` serves both.
  std::vector<const lang::Clause*> clauses_of(const lang::Constructor* constructor) const {
    std::vector<const lang::Clause*> all;
    for (const Clauses& each : clauses_) all.push_back(each.of(constructor));
    return all;
  }

 private:
  std::vector<Clauses> clauses_;  // by match
  std::unordered_map<const lang::Constructor*, std::optional<std::vector<bool>>> fields_;
};

// A field has no filler, or the code has another form.
struct Refused {};

// How the matches know which constructor it is: they choose once more, or by its number.
enum class Known : std::uint8_t { ChosenAgain, Numbered };

class Choice final : public DataChoice {
 public:
  Choice(const Expr& branch, std::optional<std::uint32_t> field, Known how,
         const std::vector<const lang::Match*>& matches, const KnownValues& known)
      : field_(field), how_(how), read_(matches), known_(known) {
    if (!read_.are_flat()) throw Refused{};
    root_ = look_at(branch, {}, {});
    if (how_ == Known::Numbered) number_constructors();
  }

  Expr with_slots(const Expr& branch) override {
    std::vector<lang::Type> types;
    if (field_) types = without_data(as<lang::TupleType>(branch->type)->fields);
    own_fields_ = types.size();
    for (const VariableRef& slot : slots_) types.push_back(slot->type);
    return rebuilt(branch, *root_, lang::tuple_type(types), {});
  }

  std::vector<Binding> projections(const VariableRef& all) const override {
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      bindings.push_back({slots_[i], build::project(lang::make_var(all),
                                                    static_cast<std::uint32_t>(own_fields_ + i))});
    return bindings;
  }

  Expr again(const lang::Match& match) const override {
    const Clauses clauses(match);
    if (how_ == Known::Numbered) return by_number(match, clauses);
    const Expr chosen = chosen_again(*root_, match, clauses);
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
  // A constructor, and the slots of its fields; null for one that is not read.
  struct Numbered {
    const lang::Constructor* constructor;
    std::vector<Expr> fields = {};
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
      choose(branch->condition, own, taken, *node);
      node->children.push_back(look_at(branch->then_branch, own, taken));
      node->children.push_back(look_at(branch->else_branch, own, taken));
      return node;
    }
    has_patterns_ = true;  // bound once more where the choice is made again
    const auto& match = lang::cast<lang::Match>(block.result);
    choose(match.scrutinee, own, taken, *node);
    for (const lang::Clause& clause : match.clauses)
      node->children.push_back(look_at(clause.body, own, taken));
    return node;
  }
  void choose(const Expr& condition, const Variables& own, std::vector<Carried>& taken,
              Node& node) {
    if (how_ == Known::ChosenAgain) node.condition = outside(condition, own, taken, node);
  }

  void leaf(const Expr& result, const Variables& own, std::vector<Carried>& taken, Node& node) {
    Expr atom = result;
    if (field_) {
      const auto* tuple = as<lang::Tuple>(known_.of(result));
      if (!tuple) throw Refused{};
      atom = tuple->fields[*field_];
    }
    node.made = known_.construction(atom);
    if (!node.made) throw Refused{};
    const auto& is_read = read_.of(node.made->constructor);
    if (!is_read) throw Refused{};
    if (how_ == Known::Numbered) {
      leaves_.push_back(&node);
      return;
    }
    // The code of a clause has one place to go to.
    for (const lang::Clause* clause : read_.clauses_of(node.made->constructor)) {
      if (!placed_.insert(clause).second) throw Refused{};
    }
    for (std::size_t i = 0; i < node.made->fields.size(); ++i) {
      if ((*is_read)[i]) node.made->fields[i] = outside(node.made->fields[i], own, taken, node);
    }
  }

  // Gives each leaf the slots of its fields, those of the same type to all constructors, and a
  // number.
  void number_constructors() {
    for (Node* leaf : leaves_) {
      Numbered& constructor = numbered(*leaf->made);
      for (std::size_t i = 0; i < constructor.fields.size(); ++i) {
        if (!constructor.fields[i]) continue;
        if (!lang::equal(constructor.fields[i]->type, leaf->made->fields[i]->type)) throw Refused{};
        const auto& variable = lang::cast<lang::Var>(constructor.fields[i]).variable;
        const auto slot = std::find(slots_.begin(), slots_.end(), variable) - slots_.begin();
        leaf->carried.push_back({static_cast<std::size_t>(slot), leaf->made->fields[i]});
      }
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool is_always_carried =
          std::all_of(leaves_.begin(), leaves_.end(), [&](const Node* leaf) {
            return std::any_of(leaf->carried.begin(), leaf->carried.end(),
                               [&](const Carried& each) { return each.slot == slot; });
          });
      fillers_.push_back(is_always_carried ? nullptr : filler(slots_[slot]->type));
      if (!is_always_carried && !fillers_.back()) throw Refused{};
    }
    if (constructors_.size() == 1) return;
    const std::size_t tag = slots_.size();
    slots_.push_back(lang::make_variable("tag", lang::scalar_type(lang::DType::Int32)));
    fillers_.push_back(nullptr);
    for (Node* leaf : leaves_) leaf->carried.push_back({tag, number_of(numbered(*leaf->made))});
  }
  Numbered& numbered(const Construction& made) {
    for (Numbered& each : constructors_) {
      if (each.constructor == made.constructor) return each;
    }
    Numbered& added = constructors_.emplace_back(Numbered{made.constructor});
    const std::vector<bool>& is_read = *read_.of(made.constructor);
    std::unordered_set<const lang::Variable*> own;
    for (std::size_t i = 0; i < is_read.size(); ++i) {
      if (!is_read[i]) {
        added.fields.push_back(nullptr);
        continue;
      }
      const lang::Type& type = made.fields[i]->type;
      auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const VariableRef& each) {
        return lang::equal(each->type, type) && !own.contains(each.get());
      });
      if (slot == slots_.end())
        slot = slots_.insert(slots_.end(), lang::make_variable("field", type));
      own.insert(slot->get());
      added.fields.push_back(lang::make_var(*slot));
    }
    return added;
  }
  Expr number_of(const Numbered& constructor) const {
    return build::constant(lang::DType::Int32,
                           static_cast<double>(&constructor - constructors_.data()));
  }
  Expr by_number(const lang::Match& match, const Clauses& clauses) const {
    Expr result;
    const auto is_rest = [&](const Numbered& each) {
      return clauses.of(each.constructor)->pattern->kind == PatternKind::Wildcard;
    };
    for (const Numbered& each : constructors_) {
      if (is_rest(each)) result = clauses.of(each.constructor)->body;
    }
    for (std::size_t i = constructors_.size(); i-- > 0;) {
      const Numbered& each = constructors_[i];
      if (is_rest(each)) continue;
      const Expr chosen = with_fields(*clauses.of(each.constructor), each.fields);
      if (!result) {
        result = chosen;
        continue;
      }
      const Expr is_it = build::op("equal", {lang::make_var(slots_.back()), number_of(each)});
      result = lang::make_if(is_it, chosen, result, match.span, match.type);
    }
    return result;
  }
  // `fields`: null for those that the clause does not read.
  static Expr with_fields(const lang::Clause& clause, const std::vector<Expr>& fields) {
    if (clause.pattern->kind == PatternKind::Wildcard) return clause.body;
    lang::Substitution bound;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const lang::PatternRef& field = clause.pattern->fields[i];
      if (fields[i] && field->kind == PatternKind::Variable)
        bound[field->variable.get()] = fields[i];
    }
    return lang::substitute(clause.body, bound);
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
    if (node.made) return with_fields(*clauses.of(node.made->constructor), node.made->fields);
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
  const Known how_;
  FieldsRead read_;
  const KnownValues& known_;
  std::unique_ptr<Node> root_;
  std::unordered_set<const lang::Clause*> placed_;  // of those that are chosen again
  std::vector<Node*> leaves_;                       // of those that are numbered
  std::vector<Numbered> constructors_;
  bool has_patterns_ = false;
  std::vector<VariableRef> slots_;
  std::vector<Expr> fillers_;
  std::size_t own_fields_ = 0;
};

}  // namespace

std::unique_ptr<DataChoice> DataChoice::of(const Expr& branch, std::optional<std::uint32_t> field,
                                           const std::vector<const lang::Match*>& matches,
                                           const KnownValues& known) {
  for (const Known how : {Known::ChosenAgain, Known::Numbered}) {
    try {
      return std::make_unique<Choice>(branch, field, how, matches, known);
    } catch (const Refused&) {
      continue;
    }
  }
  return nullptr;
}

}  // namespace relay::opt
