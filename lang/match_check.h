#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"

namespace relay::lang {

struct MatchReport {
  std::vector<std::string> missing;      // patterns that no clause covers, at most kMostMissing
  std::vector<std::size_t> unreachable;  // clauses that earlier ones cover
};
inline constexpr std::size_t kMostMissing = 5;

// Looks only at the patterns, which must be well-typed. The method is Maranget's ("Warnings for
// pattern matching", 2007): a clause is useful if some value matches it and none before it. Cost:
// exponential in the worst case, as for every such check; linear for ordinary clauses.
MatchReport check_match(const std::vector<Clause>& clauses);

// What the report says, in words: of missing patterns, of which there must be some, and of a
// clause that is unreachable.
Diagnostic non_exhaustive(const MatchReport& report, Span match);
Diagnostic unreachable(const Clause& clause);

}  // namespace relay::lang
