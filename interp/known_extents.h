#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "lang/expr.h"

namespace relay::interp {

// The extent that the dimension variable of that name has, or, of "?", one that nobody knows.
using ExtentOf = std::function<std::int64_t(std::string_view variable)>;

std::int64_t extent_at(const lang::Dim& dim, const ExtentOf& extent_of);

// What scalars of a function's code are, once its dimension variables have extents: those that are
// computed of `dim_of`, which reads the types, and of constants. Nothing of it runs.
class KnownExtents {
 public:
  // Cost: linear in the code.
  KnownExtents(const lang::Expr& code, ExtentOf extent_of);
  // The bits of an atom's value; nothing for what is not known.
  std::optional<std::uint64_t> bits_of(const lang::Expr& atom);

 private:
  std::optional<std::uint64_t> computed(const lang::Expr& expr);

  const ExtentOf extent_of_;
  std::unordered_map<const lang::Variable*, lang::Expr> values_;  // of what `let` binds
  std::unordered_map<const lang::Variable*, std::optional<std::uint64_t>> known_;
};

}  // namespace relay::interp
