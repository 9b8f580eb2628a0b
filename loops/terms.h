#pragma once

#include <vector>

#include "loops/stages.h"

namespace relay::loops {

// One of the products that an element of a sum is made of, where the conditions hold; elsewhere it
// is 0.
struct Term {
  NodeId product;                  // which may be divided by something
  std::vector<NodeId> conditions;  // outermost first
  bool is_subtracted = false;
};

inline constexpr std::size_t kMostTerms = 4;

// The products that `element` is made of, through sums, differences, signs, and conditions with a 0
// behind them. Empty where it is made of other things too, or of more than kMostTerms.
std::vector<Term> terms_of(const Stages& stages, NodeId element);

bool is_product(const Node& node);
// Is it a 0 that a sum forgets, whatever else it adds? -0 is none.
bool is_zero(const Node& node);

}  // namespace relay::loops
