#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::index {

// Which of its binders each part of index notation depends on. `form` lives as long as this. Cost:
// linear in its graph.
class BinderUse {
 public:
  explicit BinderUse(const lang::Expr& form);

  // Of a part of the form; those that the part binds itself are not among them.
  std::uint64_t of(const lang::Expr& part) const;
  std::uint64_t of(const std::vector<lang::IndexBinder>& binders) const;
  // Can be told: there are no more binders than bits, and no extent depends on one.
  bool is_known() const { return is_known_; }
  // Those of the set, in the order in which they come in the form.
  std::vector<lang::IndexBinder> binders_in(std::uint64_t set) const;
  // Are there more points than it takes to compute something again (or is it not known)?
  bool are_many(std::uint64_t set) const;

 private:
  bool is_known_ = true;
  std::vector<lang::IndexBinder> binders_;
  std::unordered_map<const lang::Variable*, std::uint64_t> bits_;
  std::unordered_map<const lang::ExprNode*, std::uint64_t> used_;
};

// Reductions of at most so many points are rather computed again than kept.
inline constexpr int kShortReduction = 16;

}  // namespace relay::index
