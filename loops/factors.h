#pragma once

#include <optional>
#include <span>
#include <vector>

#include "loops/free_vars.h"

namespace relay::loops {

struct Factor {
  NodeId node;
  bool is_divisor = false;
};

// What a product is made of, through products, quotients of floats, and signs.
struct FlatProduct {
  std::vector<Factor> factors;  // as written
  bool is_negative = false;
};
// No value where there are too many.
std::optional<FlatProduct> flat_product(const Stages& stages, NodeId product);

// `first`, or nothing where it is -1, times the factors: first all that multiply.
NodeId product_of(NodeFactory& make, std::span<const Factor> factors, NodeId first, DType dtype);

struct Summand {
  NodeId node;
  bool is_subtracted;
};
// All of them, of which there is one at least, in order.
NodeId sum_of(NodeFactory& make, std::span<const Summand> summands, DType dtype);

// sum { product } = outside * sum { left * right }.
struct Factors {
  std::vector<Factor> outside, left, right;  // as written, each
  bool is_negative = false;                  // the sum is subtracted
};

// The factors of `product`, an element of a sum over `reduced` for a tensor over `vars`: what does
// not depend on `reduced` stands outside, the others in two groups that have as few of `vars` in
// common as there is a way to. No value where there is no second group, or there are many factors.
// The order of factors changes how a product is rounded, and may let it overflow where the written
// order does not.
std::optional<Factors> factors_of(const Stages& stages, FreeVars& free, NodeId product,
                                  const Vars& vars, const Vars& reduced);

// sum { element } = outside * sum { rest }: what `element`, of a sum over `reduced`, is multiplied
// with and divided by as a whole.
struct Scaled {
  NodeId rest;
  std::vector<Factor> outside;
  bool is_negative = false;
};
Scaled scaled(const Stages& stages, FreeVars& free, NodeId element, const Vars& reduced);

}  // namespace relay::loops
