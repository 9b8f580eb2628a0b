#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/expr.h"

namespace relay::index {

// An index as a sum of multiples of binders, and of what is the same at all points (null: 0; not
// where there is nothing else).
struct LinearIndex {
  struct Term {
    const lang::IndexBinder* binder;
    std::int64_t factor;
  };
  std::vector<Term> terms;
  lang::Expr offset;
};

// `factor * expr`, of int64.
lang::Expr times(std::int64_t factor, const lang::Expr& expr);

// An extent that is known, if only by name, as int64.
lang::Expr extent_of_axis(const lang::Dim& length);

// A constant of at most 2^30.
std::optional<std::int64_t> number_in(const lang::Expr& expr);

// Reads int64 indices at the points of a domain, which must outlive it; linear in their graphs.
class LinearIndices {
 public:
  explicit LinearIndices(const std::vector<lang::IndexBinder>& domain);

  // Nothing where the index is more than that, or has many terms.
  std::optional<LinearIndex> of(const lang::Expr& index);
  // Does it mention a binder?
  bool vary(const lang::Expr& expr) const;

 private:
  std::optional<LinearIndex> form(const lang::Expr& node) const;
  lang::Expr at_first_point(const lang::Expr& node) const;
  std::optional<LinearIndex> sum(const lang::Expr& a, std::int64_t p, const lang::Expr& b,
                                 std::int64_t q) const;

  std::unordered_map<const lang::Variable*, const lang::IndexBinder*> binders_;
  std::unordered_map<const lang::ExprNode*, std::optional<LinearIndex>> forms_;
  std::unordered_set<const lang::ExprNode*> mentions_;  // some binder
};

}  // namespace relay::index
