#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "lang/expr.h"

// Private to the simplifier.
namespace relay::opt {

// What the atoms at hand stand for.
class Definitions {
 public:
  void add(const lang::VariableRef& variable, lang::Expr value) {
    values_[variable.get()] = std::move(value);
  }
  // The defining value of a variable; anything else is itself.
  const lang::Expr& of(const lang::Expr& atom) const;
  // The call, if `atom` is defined by one of operator `name`; else null.
  const lang::Call* call_of(const lang::Expr& atom, std::string_view name) const;
  // The number if `atom` is a constant of one element, or a full tensor of zeros or ones.
  std::optional<double> number(const lang::Expr& atom) const;
  bool is_number(const lang::Expr& atom, double wanted) const;
  // The number if `atom` is a constant of rank 0.
  std::optional<double> scalar(const lang::Expr& atom) const;

 private:
  std::unordered_map<const lang::Variable*, lang::Expr> values_;
};

bool same_type(const lang::Expr& a, const lang::Expr& b);
// One variable, or reads of one element.
bool same_atom(const lang::Expr& a, const lang::Expr& b);
lang::DType dtype_of(const lang::Expr& tensor);
// Is every extent of the tensor known, if only by name?
bool has_known_shape(const lang::Expr& tensor);
// Code that no person wrote: its operands may be put in another order, its sums regrouped.
inline bool is_made(const lang::Expr& expr) { return !expr->span; }

// The rules. Each gives the replacement of a call of an operator, whose operands need not be atoms,
// or null.
lang::Expr simplified_arithmetic(const lang::Expr& expr, const Definitions& definitions);
lang::Expr simplified_shape(const lang::Expr& expr, const Definitions& definitions);
// A call of `collapse_sum_like`, without the factors that are the same for all terms; null where
// there are none.
lang::Expr simplified_collapse(const lang::Expr& expr, const Definitions& definitions);
// A sum into zeros that writes each element once, as the loop that it is; null for others.
lang::Expr simplified_scatter(const lang::Expr& expr, const Definitions& definitions);
// The same for a node of index notation whose parts are simplified already.
lang::Expr simplified_index_notation(const lang::Expr& expr);

// The constant `a name b` for operators `add`, `subtract`, `multiply`, `divide` on two constants of
// one dtype, where it is what both tiers would compute; null elsewhere.
lang::Expr folded(std::string_view name, const lang::Expr& a, const lang::Expr& b);

}  // namespace relay::opt
