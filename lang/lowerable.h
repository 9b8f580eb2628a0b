#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::lang {

// Can this typed expression run as kernels: an operator call with a definition whose arguments are
// tensors or tuples of them, or index notation whose bodies consist of primitives, operator calls
// on scalars, indexing, `let`, `if`, tuples and nested reductions whose extents do not depend on an
// index; and of operators that nest (OpDef::nests) on tensors that are made for each point, and
// comprehensions there that cannot fail. The one predicate that fusion, evaluation and lowering
// agree on.
bool is_lowerable(const Expr& expr);
// The same of index notation whose bodies make no tensors: scalar code, which normalisation leaves
// as it is.
bool is_scalar_notation(const Expr& expr);
// The same question, asked of index notation part by part from outside to inside: binders and
// `let`s are entered on the way to a part. A part is looked at once, however often it is asked for.
class LowerableParts {
 public:
  class Bodies;
  LowerableParts();
  ~LowerableParts();
  // False, and nothing is entered, where the extents are not known before the nest runs.
  bool enter(const std::vector<IndexBinder>& binders);
  // False, and nothing is entered, where the value is no part of a kernel.
  bool enter(const Let& let);
  bool holds(const Expr& part);

 private:
  std::unique_ptr<Bodies> bodies_;
};
// Will a kernel compute its places and values, whatever it is over and goes into, once globals are
// read before it?
bool has_lowerable_bodies(const ScatterReduce& scatter);

// Does a zero in the second operand make this primitive a run-time error?
bool divides_integers(Prim prim, DType operand);
// The same of a primitive with these operands, of which a divisor that is written and is not 0 is
// known.
bool may_divide_by_zero(Prim prim, const std::vector<Expr>& args);
// Is it quick on scalars: no division, no power, no function of the mathematical library?
bool is_cheap(Prim prim);

// May the evaluation of scalar code fail: by a bounds check or the division of an integer? Answers
// are kept by node, as long as this lives.
class MayFail {
 public:
  bool operator()(const Expr& expr);

 private:
  bool fresh(const Expr& expr);
  std::unordered_map<const ExprNode*, bool> known_;
};

// The variables in `expr` whose values are extents or other attributes (binders' extents, and
// inputs that OpDef::static_form takes as attributes): a group has them as parameters, and is
// lowered for each of their values.
std::vector<VariableRef> shaping_variables(const Expr& expr);

// Holds only primitives, lets, scalar variables and constants, and is no graph whose tree would be
// several times as large: code that runs as a tree of scalars.
bool is_scalar_code(const Expr& expr);

}  // namespace relay::lang
