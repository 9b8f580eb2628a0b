#pragma once

#include "lang/expr.h"
#include "lang/op.h"
#include "lang/rewrite_rule.h"

// Traits of operators, which follow from their records: nobody lists names for them.
namespace relay::lang {

// Does it give the same bits with its two operands exchanged?
bool is_commutative(const OpDef& op);

// Has this call of an operator the trait (PatternForm::Elementwise to PatternForm::Operator)? A
// trait may depend on attributes and types, and is read off the definition: costs as much as making
// it. An operator with an effect has none; a definition that needs extents which are symbolic here
// tells none but Operator.
bool has_trait(const Call& call, PatternForm trait);

}  // namespace relay::lang
