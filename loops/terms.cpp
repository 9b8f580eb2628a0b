#include "loops/terms.h"

#include <utility>

namespace relay::loops {

namespace {

// A product, also under signs and divisors?
bool is_term(const Stages& stages, const Node& node) {
  const bool is_over =
      node.kind == NodeKind::Primitive && (node.prim == Prim::Div || node.prim == Prim::Neg);
  if (!is_over) return is_product(node);
  return is_term(stages, stages.nodes[static_cast<std::size_t>(stages.args(node)[0])]);
}

// False where something is no product, or there are too many.
bool collect(const Stages& stages, Term term, std::vector<Term>& terms) {
  const Node& node = stages.nodes[static_cast<std::size_t>(term.product)];
  const auto args = stages.args(node);
  const auto part = [&](NodeId id, bool is_turned) {
    return collect(stages, {id, term.conditions, term.is_subtracted != is_turned}, terms);
  };
  if (node.kind == NodeKind::Primitive) {
    if (node.prim == Prim::Add || node.prim == Prim::Sub)
      return part(args[0], false) && part(args[1], node.prim == Prim::Sub);
    if (node.prim == Prim::Neg) return part(args[0], true);
    if (node.prim == Prim::Select && is_zero(stages.nodes[static_cast<std::size_t>(args[2])])) {
      term.conditions.push_back(args[0]);
      return part(args[1], false);
    }
  }
  if (!is_term(stages, node) || terms.size() == kMostTerms) return false;
  terms.push_back(std::move(term));
  return true;
}

}  // namespace

std::vector<Term> terms_of(const Stages& stages, NodeId element) {
  std::vector<Term> terms;
  return collect(stages, {element, {}}, terms) ? terms : std::vector<Term>();
}

bool is_product(const Node& node) {
  return node.kind == NodeKind::Primitive && node.prim == Prim::Mul;
}

bool is_zero(const Node& node) { return node.kind == NodeKind::Constant && node.bits == 0; }

}  // namespace relay::loops
