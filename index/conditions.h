#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"

// Conditions of scalar code: bools of rank 0.
namespace relay::index {

// On one side of a `select`: where the condition holds, or where it does not. Null: always.
struct TakenSide {
  lang::Expr condition;
  bool holds = true;

  // The condition that holds there, and there only.
  lang::Expr truth() const;
  // The value there, and 0 on the other side.
  lang::Expr kept(const lang::Expr& value) const;
};

// The same side by a condition that is no negation.
TakenSide without_negation(TakenSide side);

// What is `a && b`, or else `a || b`: as a primitive, or as a choice.
struct Junction {
  bool is_and;
  lang::Expr a, b;
};
std::optional<Junction> junction(const lang::Expr& condition);

// The sides that have to be taken together where this one is: of `a && b`, which holds, both; of
// `a || b`, which does not, the other ones. Itself where it is no such side.
std::vector<TakenSide> conjuncts(const TakenSide& side);

std::vector<TakenSide> conjuncts_of(const std::vector<TakenSide>& sides);

// What holds where all the sides are taken; null: always.
lang::Expr all_of(const std::vector<TakenSide>& sides);

// What holds where both do; `so_far`: null where nothing is known yet.
lang::Expr both(const lang::Expr& so_far, const lang::Expr& condition);

// Is it an index, or may be one?
bool is_int64(const lang::Expr& scalar);

// Is the int64 index at least 0, and below the extent?
lang::Expr is_between(const lang::Expr& index, const lang::Expr& extent);

}  // namespace relay::index
