#pragma once

#include <optional>
#include <vector>

#include "opt/block_uses.h"
#include "opt/external.h"
#include "opt/pattern.h"

// Private to MergeComposite.
namespace relay::opt {

// Steps of a block that a pattern is made of.
struct CompositeMatch {
  std::vector<std::size_t> steps;  // places, in order; the last is the one that gives the result
  std::vector<lang::Expr> values;  // what the pattern's parameters stand for, each once
};
// The step at `place` is the pattern's result. No step but that one may be used by others, or be
// what a parameter stands for.
// `definitions`: of the block.
std::optional<CompositeMatch> match_composite(const PatternRule& pattern, const lang::Block& block,
                                              const Definitions& definitions, const BlockUses& uses,
                                              std::size_t place);

}  // namespace relay::opt
