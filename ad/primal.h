#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"
#include "lang/visit.h"

namespace relay::ad {

// Is scalar code nothing but a read?
bool is_read(const lang::Expr& expr);

// Has it few points, and no reduction inside? Then it is computed again.
bool is_short(const lang::Reduction& reduction);

// Code for primal values in derivatives (`rewrite`). What a derivative multiplies is often a
// reduction, and the derivative belongs to more points than that: each reduction that is not short
// is computed once, for all points that it depends on, and read from there. The rest of the code is
// shared as it is in the primal.
class Primal final : public lang::Rewriter {
 public:
  explicit Primal(Emitter& code) : code_(code) {}

  // What values may depend on, outer binders first.
  void add_binders(const std::vector<lang::IndexBinder>& binders);

  // A read of what `expr` is at all points that it depends on. Null where the extent of such a
  // table would depend on an index.
  lang::Expr once(const std::string& name, const lang::Expr& expr);

 protected:
  lang::Expr pre(const lang::Expr& expr) override;

 private:
  Emitter& code_;
  std::vector<lang::IndexBinder> binders_;
  std::unordered_map<const lang::ExprNode*, lang::Expr> tables_;
};

}  // namespace relay::ad
