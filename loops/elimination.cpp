#include "loops/elimination.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "loops/factors.h"

namespace relay::loops {

namespace {

constexpr double kFewPoints = 1e4;  // of all loops together, which stay as they are
constexpr double kGain = 2;         // less work, at least
constexpr std::size_t kMostSummands = 6;

// What is added up. False where that is much.
bool collect(const Stages& stages, Summand summand, std::vector<Summand>& summands) {
  const Node& node = stages.nodes[static_cast<std::size_t>(summand.node)];
  const auto args = stages.args(node);
  if (node.kind == NodeKind::Primitive) {
    if (node.prim == Prim::Neg) return collect(stages, {args[0], !summand.is_subtracted}, summands);
    if (node.prim == Prim::Add || node.prim == Prim::Sub)
      return collect(stages, {args[0], summand.is_subtracted}, summands) &&
             collect(stages, {args[1], summand.is_subtracted != (node.prim == Prim::Sub)},
                     summands);
  }
  summands.push_back(summand);
  return summands.size() <= kMostSummands;
}

class Eliminator {
 public:
  Eliminator(const Stages& stages, NodeFactory& make, FreeVars& free, DType dtype,
             const Vars& scope, Vars reduced)
      : stages_(stages),
        make_(make),
        free_(free),
        dtype_(dtype),
        scope_(scope),
        reduced_(std::move(reduced)) {}

  // -1: as it is.
  NodeId run(NodeId product) {
    auto flat = flat_product(stages_, product);
    if (!flat) return -1;
    factors_ = std::move(flat->factors);
    bool is_new = false;
    for (IndexVarId var = cheapest(); var >= 0; var = cheapest()) {
      eliminate(var);
      is_new = true;
    }
    if (!is_new) return -1;
    NodeId result = product_of(make_, factors_, -1, dtype_);
    if (!reduced_.empty()) result = make_.reduce(ReduceOp::Sum, reduced_, result);
    if (!flat->is_negative) return result;
    return make_.primitive(Prim::Neg, std::array{result}, dtype_);
  }

 private:
  bool depends(const Factor& factor, IndexVarId var) {
    const Vars& vars = free_(factor.node);
    return std::binary_search(vars.begin(), vars.end(), var);
  }

  // The variable whose sum goes inside with the least work; -1 where none is worth it.
  IndexVarId cheapest() {
    Vars all = scope_;
    all.insert(all.end(), reduced_.begin(), reduced_.end());
    const double points = points_of(stages_, all);
    if (points < kFewPoints) return -1;
    double least = points / kGain;
    IndexVarId best = -1;
    for (const IndexVarId var : reduced_) {
      Vars inner;
      bool are_all = true;
      bool has_numerator = false;  // 1 / x is infinite where y / x is not
      for (const Factor& factor : factors_) {
        if (!depends(factor, var)) {
          are_all = false;
          continue;
        }
        has_numerator = has_numerator || !factor.is_divisor;
        for (const IndexVarId each : free_.among(all, factor.node)) {
          if (std::find(inner.begin(), inner.end(), each) == inner.end()) inner.push_back(each);
        }
      }
      if (are_all || !has_numerator) continue;
      const double work = points_of(stages_, inner) + points / points_of(stages_, {var});
      if (work > least) continue;
      least = work;
      best = var;
    }
    return best;
  }

  void eliminate(IndexVarId var) {
    std::vector<Factor> inner;
    std::vector<Factor> others;
    for (const Factor& factor : factors_) (depends(factor, var) ? inner : others).push_back(factor);
    std::erase(reduced_, var);
    others.push_back({sum_over(var, inner)});
    factors_ = std::move(others);
  }

  // One over several variables rather than sums of sums.
  NodeId sum_over(IndexVarId var, const std::vector<Factor>& factors) {
    const Node only = make_.node(factors[0].node);  // a copy: nodes move when new ones are made
    if (factors.size() == 1 && !factors[0].is_divisor && only.kind == NodeKind::Reduce &&
        only.op == ReduceOp::Sum) {
      const auto old = stages_.vars(only);
      Vars vars(old.begin(), old.end());
      vars.push_back(var);
      return make_.reduce(ReduceOp::Sum, vars, stages_.args(only)[0]);
    }
    return make_.reduce(ReduceOp::Sum, Vars{var}, product_of(make_, factors, -1, dtype_));
  }

  const Stages& stages_;
  NodeFactory& make_;
  FreeVars& free_;
  const DType dtype_;
  const Vars& scope_;
  Vars reduced_;
  std::vector<Factor> factors_;
};

}  // namespace

NodeId with_sums_inside(Stages& stages, NodeFactory& make, FreeVars& free, NodeId sum,
                        const Vars& scope) {
  const Node at = make.node(sum);
  const bool adds = at.kind == NodeKind::Reduce && at.op == ReduceOp::Sum;
  // Half precision overflows soon.
  const bool is_wide =
      lang::is_int(at.dtype) || at.dtype == DType::Float32 || at.dtype == DType::Float64;
  if (!adds || !is_wide) return sum;
  std::vector<Summand> summands;
  if (!collect(stages, {stages.args(at)[0], false}, summands)) return sum;
  const auto own = stages.vars(at);
  const Vars reduced(own.begin(), own.end());
  std::vector<NodeId> found;
  for (const Summand& summand : summands)
    found.push_back(Eliminator(stages, make, free, at.dtype, scope, reduced).run(summand.node));
  if (std::all_of(found.begin(), found.end(), [](NodeId id) { return id < 0; })) return sum;
  for (std::size_t i = 0; i < found.size(); ++i) {
    NodeId& node = summands[i].node;
    node = found[i] < 0 ? make.reduce(ReduceOp::Sum, reduced, node) : found[i];
  }
  return sum_of(make, summands, at.dtype);
}

}  // namespace relay::loops
