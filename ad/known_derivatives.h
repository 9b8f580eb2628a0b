#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// Derivatives that are asked of a function value (ad/closures.h) which turns out to be known where
// they are asked:
//   let f = fn (y) { y * y * x }; let both = with_pullback(f)
// becomes the literal that running the code would have made,
//   let both = fn (y) { @f_pullback(x, y) }
// which is a known function in turn. So what a function makes of a function, `fn (f) { grad(f) }`,
// costs where it is called with a known one what `grad` of that costs.
//
// The derivative of a function that asks for its own has those of all orders in it: what comes back
// to where a derivative is asked for is asked when it runs.
class KnownDerivatives {
 public:
  KnownDerivatives(lang::Program& program, Pairs& pairs) : program_(program), pairs_(pairs) {}

  // A typed ANF expression with these in place. What has no derivative stays, and says so when it
  // runs.
  lang::Expr resolved(const lang::Expr& expr);
  // The program's definitions have changed.
  void forget() { known_.clear(); }

 private:
  class Pass;
  class Reach;
  enum class Mode { Pullback, Tangent };
  std::optional<Mode> mode_of(const lang::Expr& expr) const;
  bool asks_for_itself(const lang::Expr& literal);
  lang::Expr of_literal(const lang::Expr& literal, const lang::VariableRef& self, Mode mode);

  lang::Program& program_;
  Pairs& pairs_;
  // By the literal, which is kept alive, and the mode; null: it has none.
  std::map<std::pair<const lang::ExprNode*, Mode>, std::pair<lang::Expr, lang::Expr>> known_;
};

}  // namespace relay::ad
