#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "index/conditions.h"
#include "lang/expr.h"

namespace relay::index {

// Under which conditions the values of scalar code are needed at all: of `select(c, x / y, 0)` the
// quotient is where `c` holds, and so is what nothing else uses. Cost: linear, times the conditions
// around a node.
class NeededWhere {
 public:
  explicit NeededWhere(const lang::Expr& code);

  // Sides of conditions that are taken wherever this node of the code is needed: those around it,
  // each conjunct by itself, outer ones first; of more than 64 only these.
  std::vector<TakenSide> sides(const lang::Expr& node) const;
  // Does the condition hold wherever this node of the code is needed?
  bool implies(const lang::Expr& node, const lang::Expr& condition) const;

 private:
  struct Side {
    TakenSide taken;
    std::size_t hash;  // of the condition
  };
  using Sides = std::vector<Side>;

  static Side side(const TakenSide& taken);
  static bool is_among(const Side& side, const Sides& sides);
  void use(const lang::Expr& node, const Sides& sides);
  void use_parts(const lang::Expr& node, const Sides& sides);

  std::unordered_map<const lang::ExprNode*, Sides> sides_;
};

}  // namespace relay::index
