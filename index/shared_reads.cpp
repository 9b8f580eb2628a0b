#include "index/shared_reads.h"

#include <cstddef>
#include <unordered_map>

#include "lang/alpha_equal.h"
#include "lang/visit.h"

namespace relay::index {

using lang::Expr;

namespace {

class Sharer final : public lang::Rewriter {
  Expr post(const Expr& expr) override {
    if (expr->kind != lang::ExprKind::Index) return expr;
    const std::size_t hash = lang::structural_hash(expr);
    const auto [first, last] = reads_.equal_range(hash);
    for (auto each = first; each != last; ++each) {
      if (lang::alpha_equal(each->second, expr)) return each->second;
    }
    reads_.emplace(hash, expr);
    return expr;
  }

  std::unordered_multimap<std::size_t, Expr> reads_;
};

}  // namespace

Expr with_shared_reads(const Expr& code) { return Sharer().rewrite(code); }

}  // namespace relay::index
