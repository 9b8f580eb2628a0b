#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ad/adjoint.h"
#include "index/needed_where.h"
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
  // `form`: what holds all of that code.
  Primal(lang::Expr form, Emitter& code) : form_(std::move(form)), code_(code) {}

  // What values may depend on, outer binders first.
  void add_binders(const std::vector<lang::IndexBinder>& binders);

  // A read of what `expr` is at all points that it depends on. Null where the extent of such a
  // table would depend on an index.
  lang::Expr once(const std::string& name, const lang::Expr& expr);
  // What a table holds of which is needed what `node` of the form is needed for: `value`, and 0
  // where a condition says that it is not. An infinite derivative would do harm there.
  lang::Expr where_needed(const lang::Expr& node, const lang::Expr& value);

 protected:
  lang::Expr pre(const lang::Expr& expr) override;

 private:
  lang::Expr form_;
  Emitter& code_;
  std::optional<index::NeededWhere> needed_;  // once it is asked
  std::vector<lang::IndexBinder> binders_;
  std::unordered_map<const lang::ExprNode*, lang::Expr> tables_;
};

}  // namespace relay::ad
