#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"
#include "lang/op.h"
#include "lang/pointer_map.h"

namespace relay::opt {

// What may fail among pure code, and which loops have points. Answers are kept by node, as long as
// this lives: so long the nodes must, too.
class PureFailures {
 public:
  // All: also a `max` over nothing, and whatever has an extent that its type does not know, which
  // is compared when it runs.
  enum class Counted : std::uint8_t { Usual, All };
  explicit PureFailures(Counted counted = Counted::Usual) : counted_(counted) {}
  // What a `let` in sight binds.
  void define(const lang::VariableRef& variable, const lang::Expr& value);
  // May evaluating this typed expression, which has no effects, end in an error: by a read out of
  // range, the division of an integer by zero, a negative extent, or in an operator? Not counted
  // are checks of what types promise, and a `max` over nothing.
  bool may_fail(const lang::Expr& expr);
  // Is there a point, whatever the extents are when it runs?
  bool has_points(const std::vector<lang::IndexBinder>& binders) const;

 private:
  bool fresh(const lang::Expr& expr);
  bool folds_nothing(const lang::Reduction& reduction) const;
  bool any(const std::vector<lang::Expr>& exprs);
  bool fails_in_call(const lang::Call& call);
  bool may_be_negative(const std::vector<lang::IndexBinder>& binders) const;
  std::optional<std::int64_t> least(const lang::Expr& extent) const;

  const Counted counted_;
  lang::PointerMap<lang::Variable, lang::Expr> values_;
  std::unordered_map<const lang::ExprNode*, bool> known_;
  std::vector<lang::Expr> keep_;  // definitions, whose nodes are keys
};

}  // namespace relay::opt
