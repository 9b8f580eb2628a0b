#pragma once

#include "lang/expr.h"
#include "lang/op.h"
#include "lang/rewrite_rule.h"

// Traits of operators: what follows from their records, and one table of the rest. What single
// passes do with operators (layouts, precision, scales) stands in tables of theirs.
namespace relay::lang {

// Does it give the same bits with its two operands exchanged?
bool is_commutative(const OpDef& op);

// What an operator does with shapes, whatever it computes.
enum class OpTrait : std::uint8_t {
  Reshapes,    // the elements of its first operand, in their order, in another shape
  Broadcasts,  // its first operand, repeated along axes
  TakesShape,  // of its second operand only the shape counts
  Fills,       // of its operand only the shape counts: all elements are one number
  Pairwise,    // element by element, broadcasting two operands
  KeepsShape,  // the result has the shape of its one operand
};
// Costs a look into a table.
bool has_trait(const OpDef& op, OpTrait trait);

// Has this call of an operator the trait (PatternForm::Elementwise to PatternForm::Operator)? A
// trait may depend on attributes and types, and is read off the definition: costs as much as making
// it. An operator with an effect has none; a definition that needs extents which are symbolic here
// tells none but Operator.
bool has_trait(const Call& call, PatternForm trait);

// What the operator of a typed call computes, with variables for the arguments; null where it has
// no definition, or one that needs extents which are symbolic here.
Expr definition_of(const Call& call);

}  // namespace relay::lang
