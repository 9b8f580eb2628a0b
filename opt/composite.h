#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/pointer_map.h"
#include "opt/block_uses.h"
#include "opt/external.h"

// Private to MergeComposite.
namespace relay::opt {

// Steps of a block that a pattern is made of.
struct CompositeMatch {
  std::vector<std::size_t> steps;  // places, in order; the last is the one that gives the result
  std::vector<lang::Expr> values;  // what the pattern's parameters stand for
};
// `pattern`: a function, untyped (lang::CompositePattern). The step at `place` is its result. No
// step but that one may be used by others.
std::optional<CompositeMatch> match_composite(const lang::Function& pattern,
                                              const lang::Block& block, const BlockUses& uses,
                                              std::size_t place);

}  // namespace relay::opt
