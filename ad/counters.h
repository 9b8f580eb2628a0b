#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// Parameters of a loop that each turn moves by an integer that stays the same, as `k` of
// `f(k - 1, …)`: going backwards they are had from the turn behind, and no turn keeps them.
class Counters {
 public:
  // `calls`: those by which `function` goes round; `is_kept`: parameters that go round unchanged.
  // Cost: linear in the function.
  Counters(const lang::Function& function, const std::vector<const lang::Call*>& calls,
           const std::vector<bool>& is_kept);

  bool is_counter(std::size_t param) const { return are_counters_[param]; }
  // The value of a counter in the turn that ends in `call`, from that in the turn behind.
  lang::Expr before(const lang::Call& call, std::size_t param, const lang::Expr& after) const;

 private:
  // What is added or taken away.
  struct Move {
    bool is_known = false;
    bool is_back = false;
    lang::Expr by;  // null: nothing
  };
  Move move(const lang::Call& call, std::size_t param) const;
  bool stays(const lang::Expr& amount) const;

  std::vector<lang::VariableRef> params_;
  std::vector<bool> is_kept_;
  std::unordered_map<const lang::Variable*, lang::Expr> values_;  // of the function's `let`s
  std::vector<bool> are_counters_;
};

}  // namespace relay::ad
