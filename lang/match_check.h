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
  bool is_too_large = false;             // telling would take too long; the others are empty
};
inline constexpr std::size_t kMostMissing = 5;

// Looks only at the patterns, which must be well-typed. The method is Maranget's ("Warnings for
// pattern matching", 2007): a clause is useful if some value matches it and none before it. Cost:
// exponential in the worst case, as for every such check, and then given up after a tenth of a
// second; linear for ordinary clauses.
MatchReport check_match(const std::vector<Clause>& clauses);

// What the report says, in words: of missing patterns, of which there must be some, and of a
// clause that is unreachable.
Diagnostic non_exhaustive(const MatchReport& report, Span match);
Diagnostic unreachable(const Clause& clause);
// That a report is_too_large.
Diagnostic too_many_cases(Span match);

}  // namespace relay::lang
