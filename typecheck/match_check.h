#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lang/expr.h"

namespace relay::typecheck {

struct MatchReport {
  std::vector<std::string> missing;      // patterns that no clause covers, at most kMostMissing
  std::vector<std::size_t> unreachable;  // clauses that earlier ones cover
};
inline constexpr std::size_t kMostMissing = 5;

// Looks only at the patterns, which must be well-typed. The method is Maranget's ("Warnings for
// pattern matching", 2007): a clause is useful if some value matches it and none before it. Cost:
// exponential in the worst case, as for every such check; linear for ordinary clauses.
MatchReport check_match(const std::vector<lang::Clause>& clauses);

}  // namespace relay::typecheck
