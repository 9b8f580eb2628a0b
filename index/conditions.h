#pragma once

#include "lang/expr.h"

// Conditions of scalar code: bools of rank 0.
namespace relay::index {

// On one side of a `select`: where the condition holds, or where it does not. Null: always.
struct TakenSide {
  lang::Expr condition;
  bool holds = true;

  // The value there, and 0 on the other side.
  lang::Expr kept(const lang::Expr& value) const;
};

// The same side by a condition that is no negation.
TakenSide without_negation(TakenSide side);

// What holds where both do; `so_far`: null where nothing is known yet.
lang::Expr both(const lang::Expr& so_far, const lang::Expr& condition);

// Is the int64 index at least 0, and below the extent?
lang::Expr is_between(const lang::Expr& index, const lang::Expr& extent);

}  // namespace relay::index
