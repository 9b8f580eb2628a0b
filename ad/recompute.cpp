#include "ad/recompute.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ad/pattern.h"
#include "lang/lowerable.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::Prim;
using lang::VariableRef;

namespace {

constexpr std::size_t kMostBindings = 4;  // for one value

bool is_short(Prim prim) { return lang::is_cheap(prim) || prim == Prim::Mod; }

// Scalar arithmetic; the read of an element, of a part, which is a view, or of a field.
bool is_short(const Expr& value) {
  const auto are_short = [](const std::vector<Expr>& exprs) {
    return std::all_of(exprs.begin(), exprs.end(), [](const Expr& each) {
      return lang::is_scalar(each->type) && is_short(each);
    });
  };
  switch (value->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::DimTerm:
      return true;
    case ExprKind::Primitive: {
      const auto& node = lang::cast<lang::Primitive>(value);
      return is_short(node.prim) && are_short(node.args);
    }
    case ExprKind::Index: {
      const auto& index = lang::cast<lang::Index>(value);
      return as<lang::Var>(index.tensor) && are_short(index.indices);
    }
    case ExprKind::Call: {
      const auto& call = lang::cast<lang::Call>(value);
      const auto* op = as<lang::Operator>(call.callee);
      const bool is_arithmetic = op && op->op->elementwise && is_short(*op->op->elementwise);
      return is_arithmetic && lang::is_scalar(value->type) && are_short(call.args);
    }
    case ExprKind::Projection:
      return lang::cast<lang::Projection>(value).tuple->kind == ExprKind::Var;
    case ExprKind::Match: {
      const auto& match = lang::cast<lang::Match>(value);
      return match.scrutinee->kind == ExprKind::Var && field_read(match);
    }
    default:
      return false;
  }
}

class Recomputation {
 public:
  Recomputation(const std::vector<Binding>& primal,
                const std::function<bool(const VariableRef&)>& is_at_hand)
      : primal_(primal), is_at_hand_(is_at_hand) {
    for (std::size_t i = 0; i < primal.size(); ++i) places_[primal[i].variable.get()] = i;
  }

  std::vector<Binding> run(std::vector<VariableRef>& saved) {
    for (const VariableRef& each : saved) saved_.insert(each.get());
    // What is bound last may need what is bound first, and not the reverse.
    std::vector<VariableRef> order = saved;
    std::stable_sort(
        order.begin(), order.end(),
        [this](const VariableRef& a, const VariableRef& b) { return place_of(a) > place_of(b); });
    for (const VariableRef& each : order) {
      saved_.erase(each.get());
      std::set<std::size_t> needed;
      if (derive(each, needed)) {
        chosen_.insert(needed.begin(), needed.end());
      } else {
        saved_.insert(each.get());
      }
    }
    saved.erase(
        std::remove_if(saved.begin(), saved.end(),
                       [this](const VariableRef& each) { return !saved_.contains(each.get()); }),
        saved.end());
    std::vector<Binding> bindings;
    for (const std::size_t i : chosen_) bindings.push_back(primal_[i]);
    return bindings;
  }

 private:
  // 0: not bound here.
  std::size_t place_of(const VariableRef& variable) const {
    const auto found = places_.find(variable.get());
    return found == places_.end() ? 0 : found->second + 1;
  }

  // Can it be had from what is saved, or at hand? `needed`: the bindings of it.
  bool derive(const VariableRef& variable, std::set<std::size_t>& needed) const {
    if (saved_.contains(variable.get()) || is_at_hand_(variable)) return true;
    const std::size_t place = place_of(variable);
    if (place == 0) return false;
    if (chosen_.contains(place - 1) || needed.contains(place - 1)) return true;
    const Expr& value = primal_[place - 1].value;
    if (needed.size() == kMostBindings || !is_short(value)) return false;
    for (const VariableRef& each : lang::free_variables(value)) {
      if (!derive(each, needed)) return false;
    }
    needed.insert(place - 1);
    return needed.size() <= kMostBindings;
  }

  const std::vector<Binding>& primal_;
  const std::function<bool(const VariableRef&)>& is_at_hand_;
  std::unordered_map<const lang::Variable*, std::size_t> places_;
  std::unordered_set<const lang::Variable*> saved_;
  std::set<std::size_t> chosen_;
};

}  // namespace

std::vector<Binding> recompute(std::vector<VariableRef>& saved, const std::vector<Binding>& primal,
                               const std::function<bool(const VariableRef&)>& is_at_hand) {
  return Recomputation(primal, is_at_hand).run(saved);
}

}  // namespace relay::ad
