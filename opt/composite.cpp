#include "opt/composite.h"

#include <algorithm>
#include <map>

#include "lang/op.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

// May its two operands change places?
bool may_swap_operands(const lang::OpDef& op) {
  return op.elementwise == lang::Prim::Add || op.elementwise == lang::Prim::Mul ||
         op.elementwise == lang::Prim::Max || op.elementwise == lang::Prim::Min;
}

class CompositeMatcher {
 public:
  CompositeMatcher(const lang::Function& pattern, const lang::Block& block, const BlockUses& uses)
      : pattern_(pattern), block_(block), uses_(uses) {
    const lang::Block opened = lang::open_block(pattern.body);
    for (const lang::Binding& binding : opened.bindings)
      bound_[binding.variable.get()] = binding.value;
    result_ = opened.result;
  }

  std::optional<CompositeMatch> at(std::size_t place) {
    if (!matches_step(result_, place)) return std::nullopt;
    CompositeMatch match;
    for (const auto& [step, ignored] : state_.steps) match.steps.push_back(step);
    for (const std::size_t step : match.steps) {
      if (step == place) continue;
      for (const std::size_t user : uses_.users_of(block_.bindings[step].variable.get())) {
        if (!state_.steps.contains(user)) return std::nullopt;
      }
    }
    for (const auto& param : pattern_.params) {
      const auto found = state_.values.find(param.get());
      if (found == state_.values.end()) continue;
      const bool is_known =
          std::any_of(match.values.begin(), match.values.end(),
                      [&](const Expr& value) { return is_same_value(value, found->second); });
      if (!is_known) match.values.push_back(found->second);
    }
    return match;
  }

 private:
  struct State {
    std::map<std::size_t, bool> steps;
    std::map<const lang::Variable*, Expr> values;           // of parameters
    std::map<const lang::Variable*, std::size_t> bindings;  // of the pattern's own lets
  };

  // Does the pattern describe an atom of the block?
  bool matches(const Expr& pattern, const Expr& atom) {
    if (const auto* var = as<lang::Var>(pattern)) return matches_name(*var->variable, atom);
    if (pattern->kind == ExprKind::Constant || pattern->kind == ExprKind::Literal)
      return matches_number(pattern, atom);
    const lang::Variable* variable = variable_of(atom);
    const auto place = variable ? uses_.place_of(variable) : std::nullopt;
    return place && matches_step(pattern, *place);
  }

  bool matches_name(const lang::Variable& name, const Expr& atom) {
    const auto own = bound_.find(&name);
    if (own == bound_.end()) {  // a parameter
      const auto [known, is_new] = state_.values.try_emplace(&name, atom);
      return is_new || is_same_value(known->second, atom);
    }
    const lang::Variable* variable = variable_of(atom);
    const auto place = variable ? uses_.place_of(variable) : std::nullopt;
    if (!place) return false;
    const auto known = state_.bindings.find(&name);
    if (known != state_.bindings.end()) return known->second == *place;
    if (!matches_step(own->second, *place)) return false;
    state_.bindings[&name] = *place;
    return true;
  }

  static bool matches_number(const Expr& pattern, const Expr& atom) {
    const auto* constant = as<lang::Constant>(atom);
    if (!constant || constant->value->element_count() != 1) return false;
    const double found = constant->value->number_at(0);
    if (const auto* literal = as<lang::Literal>(pattern)) {
      if (literal->elements) return false;
      return found == (literal->is_float ? literal->real : static_cast<double>(literal->integer));
    }
    const auto& wanted = *lang::cast<lang::Constant>(pattern).value;
    return wanted.element_count() == 1 && wanted.number_at(0) == found;
  }

  bool matches_step(const Expr& pattern, std::size_t place) {
    const State before = state_;
    const Expr& step = block_.bindings[place].value;
    state_.steps[place] = true;
    if (matches_parts(pattern, step)) return true;
    state_ = before;
    return false;
  }

  bool matches_parts(const Expr& pattern, const Expr& step) {
    if (pattern->kind != step->kind) return false;
    if (const auto* tuple = as<lang::Tuple>(pattern))
      return matches_all(tuple->fields, lang::cast<lang::Tuple>(step).fields);
    if (const auto* projection = as<lang::Projection>(pattern)) {
      const auto& found = lang::cast<lang::Projection>(step);
      return projection->index == found.index && matches(projection->tuple, found.tuple);
    }
    const lang::OpDef* op = operator_of(step);
    if (!op || operator_of(pattern) != op) return false;
    const auto& wanted = lang::cast<lang::Call>(pattern);
    const auto& found = lang::cast<lang::Call>(step);
    if (!has_attributes(*op, wanted.attrs, found.attrs)) return false;
    if (matches_all(wanted.args, found.args)) return true;
    return may_swap_operands(*op) && found.args.size() == 2 &&
           matches_all(wanted.args, {found.args[1], found.args[0]});
  }

  bool matches_all(const std::vector<Expr>& patterns, const std::vector<Expr>& atoms) {
    if (patterns.size() != atoms.size()) return false;
    const State before = state_;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (matches(patterns[i], atoms[i])) continue;
      state_ = before;
      return false;
    }
    return true;
  }

  static bool has_attributes(const lang::OpDef& op, const lang::AttrsRef& wanted,
                             const lang::AttrsRef& found) {
    if (!wanted) return true;
    for (const lang::Attr& attr : wanted->list) {
      const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                                     [&](const auto& each) { return each.name == attr.key; });
      const lang::AttrValue* value = found ? found->find(attr.key) : nullptr;
      if (spec == op.attrs.end() || !value) return false;
      if (!(lang::coerce_attr(spec->kind, attr.value).value_or(attr.value) == *value)) return false;
    }
    return true;
  }

  const lang::Function& pattern_;
  const lang::Block& block_;
  const BlockUses& uses_;
  std::map<const lang::Variable*, Expr> bound_;
  Expr result_;
  State state_;
};

}  // namespace

std::optional<CompositeMatch> match_composite(const lang::Function& pattern,
                                              const lang::Block& block, const BlockUses& uses,
                                              std::size_t place) {
  return CompositeMatcher(pattern, block, uses).at(place);
}

}  // namespace relay::opt
