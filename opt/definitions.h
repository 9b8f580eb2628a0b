#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "lang/pointer_map.h"
#include "opt/known_ops.h"
#include "opt/passes.h"

// Private to the passes that look at how atoms are defined.
namespace relay::opt {

// What the atoms at hand stand for.
class Definitions {
 public:
  void add(const lang::VariableRef& variable, lang::Expr value) {
    values_[variable.get()] = std::move(value);
  }
  // The defining value of a variable; anything else is itself.
  const lang::Expr& of(const lang::Expr& atom) const;
  // The call, if `atom` is defined by one of the operator; else null.
  const lang::Call* call_of(const lang::Expr& atom, const lang::NamedOp& op) const;
  // The element, as a constant of rank 0, if `atom` is a constant of one element or a full tensor;
  // else null.
  lang::Expr element(const lang::Expr& atom) const;
  // The same as a number.
  std::optional<double> number(const lang::Expr& atom) const;
  // Are all its elements these very bits? (The zero of `+0.0` is not that of `-0.0`.)
  bool is_number(const lang::Expr& atom, double wanted) const;

 private:
  lang::PointerMap<lang::Variable, lang::Expr> values_;
};

// How far the indices of index notation run.
class IndexRanges {
 public:
  // Of a node of index notation; others are passed over.
  void note(const lang::Expr& expr);
  // Is the position at least 0, and below the extent of that axis of the tensor?
  bool is_within(const lang::Expr& position, const lang::Expr& tensor, std::size_t axis,
                 const Definitions& definitions) const;

 private:
  lang::PointerMap<lang::Variable, lang::Expr> extents_;
};

// The call, if it is one of that operator; else null.
const lang::Call* call_of(const lang::Expr& expr, const lang::NamedOp& op);
// The operator that it calls; null for everything else.
const lang::OpDef* operator_of(const lang::Expr& expr);
// Null for what is no variable.
const lang::Variable* variable_of(const lang::Expr& atom);
// The dimension that `dim_of` with these attributes reads of a tensor; null where the type does not
// say it.
const lang::Dim* dim_read(const lang::Type& tensor, const lang::Attrs& attrs);
// The extents of a tensor type; nothing where one is not constant.
std::optional<std::vector<std::int64_t>> constant_extents(const lang::Type& type);

bool same_type(const lang::Expr& a, const lang::Expr& b);
// May a step of it be rewritten by the algebra of the real numbers?
bool may_be_regrouped(const lang::Expr& expr);
// One variable, or reads of one element.
bool same_atom(const lang::Expr& a, const lang::Expr& b);
lang::DType dtype_of(const lang::Expr& tensor);
std::size_t rank_of(const lang::Expr& tensor);
// The place of an axis that may be counted from behind.
std::int64_t place_of_axis(std::int64_t axis, std::size_t rank);
// The atom, if it is a constant of rank 0; else null.
const lang::Constant* scalar(const lang::Expr& atom);
// The number, if it is a constant of rank 0 and an integer.
std::optional<std::int64_t> integer(const lang::Expr& atom);
// Is every extent of the tensor known, if only by name?
bool has_known_shape(const lang::Expr& tensor);

// What the rules may ask of whoever runs them.
struct Rules {
  const Definitions& definitions;
  const SimplifyOptions& options;
  // May this step be rewritten by the algebra of the real numbers?
  bool may_regroup(const lang::Expr& expr) const {
    return options.fast_math || lang::algebra_of(expr) == lang::Algebra::Real;
  }
  lang::Algebra algebra(const lang::Expr& expr) const {
    return may_regroup(expr) ? lang::Algebra::Real : lang::Algebra::Bits;
  }
  void tell(std::string_view rule) const {
    if (options.watch) options.watch(rule);
  }
};

// Each gives the replacement of a call of an operator or of a primitive, whose operands need not be
// atoms, or null. It has the algebra of the scope that they are called in.
lang::Expr simplified_arithmetic(const lang::Expr& expr, const Rules& rules);
lang::Expr simplified_shape(const lang::Expr& expr, const Rules& rules);
// A call of `collapse_sum_like`, without the factors that are the same for all terms; null where
// there are none.
lang::Expr simplified_collapse(const lang::Expr& expr, const Rules& rules);
// A sum of negatives as a negative sum; null for others.
lang::Expr simplified_sum(const lang::Expr& expr, const Rules& rules);
// A sum into zeros that writes each element once, as the loop that it is; null for others.
lang::Expr simplified_scatter(const lang::Expr& expr, const Rules& rules);
// A checked read that is known to be in bounds, without the check; null for others.
lang::Expr simplified_read(const lang::Expr& expr, const IndexRanges& ranges,
                           const Definitions& definitions);
// The tensor, if the expression is index notation that copies all of its elements; else null.
lang::Expr copied(const lang::Expr& expr);
// The same for a node of index notation whose parts are simplified already.
lang::Expr simplified_index_notation(const lang::Expr& expr, const Rules& rules);

}  // namespace relay::opt
