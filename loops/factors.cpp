#include "loops/factors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace relay::loops {

namespace {

constexpr std::size_t kMostFactors = 12;

struct Group {
  Vars vars, reduced;                // sorted
  std::vector<std::size_t> factors;  // by number
};

bool contains(const Vars& all, const Vars& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

Vars united(const Vars& a, const Vars& b) {
  Vars both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// False where there are too many.
bool collect(const Stages& stages, NodeId id, bool is_divisor, FlatProduct& flat) {
  const Node& node = stages.nodes[static_cast<std::size_t>(id)];
  const auto args = stages.args(node);
  if (node.kind == NodeKind::Primitive) {
    const bool is_quotient = node.prim == Prim::Div && lang::is_float(node.dtype);
    if (node.prim == Prim::Mul || is_quotient)
      return collect(stages, args[0], is_divisor, flat) &&
             collect(stages, args[1], is_divisor != is_quotient, flat);
    if (node.prim == Prim::Neg) {
      flat.is_negative = !flat.is_negative;
      return collect(stages, args[0], is_divisor, flat);
    }
  }
  flat.factors.push_back({id, is_divisor});
  return flat.factors.size() <= kMostFactors;
}

class Grouping {
 public:
  Grouping(const Stages& stages, FreeVars& free, const Vars& vars, const Vars& reduced)
      : stages_(stages), free_(free), vars_(vars), reduced_(reduced) {}

  std::optional<Factors> run(NodeId product) {
    const auto flat = flat_product(stages_, product);
    if (!flat) return std::nullopt;
    result_.is_negative = flat->is_negative;
    std::vector<Factor> inner;
    for (const Factor& factor : flat->factors) {
      const bool is_inner = !free_.among(reduced_, factor.node).empty();
      (is_inner ? inner : result_.outside).push_back(factor);
    }
    const std::vector<Group> groups = two_of(inner);
    if (groups.size() != 2) return std::nullopt;
    result_.left = taken(inner, groups[0]);
    result_.right = taken(inner, groups[1]);
    // 1 / x is infinite where y / x is not.
    if (!has_numerator(result_.left) || !has_numerator(result_.right)) return std::nullopt;
    return std::move(result_);
  }

 private:
  // What depends on the most comes first; others go along with what depends on theirs, too.
  std::vector<Group> two_of(const std::vector<Factor>& inner) {
    std::vector<Group> each;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const auto sorted = [](Vars vars) {
        std::sort(vars.begin(), vars.end());
        return vars;
      };
      each.push_back({sorted(free_.among(vars_, inner[i].node)),
                      sorted(free_.among(reduced_, inner[i].node)),
                      {i}});
    }
    std::stable_sort(each.begin(), each.end(),
                     [](const Group& a, const Group& b) { return a.vars.size() > b.vars.size(); });
    std::vector<Group> groups;
    for (const Group& one : each) {
      // Both groups are to depend on all that is summed over.
      const auto completes = [&](const Group& group) {
        return !contains(group.reduced, one.reduced);
      };
      Group* best = nullptr;
      for (Group& group : groups) {
        if (!contains(group.vars, one.vars)) continue;
        const bool is_better =
            !best || (completes(group) != completes(*best) ? completes(group)
                                                           : elements(group) < elements(*best));
        if (is_better) best = &group;
      }
      if (best) {
        join(*best, one);
      } else {
        groups.push_back(one);
      }
    }
    while (groups.size() > 2) join_smallest(groups);
    return groups;
  }

  void join_smallest(std::vector<Group>& groups) const {
    std::size_t first = 0;
    std::size_t second = 1;
    double least = -1;
    for (std::size_t j = 1; j < groups.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const double joint = points_of(stages_, united(groups[i].vars, groups[j].vars));
        if (least >= 0 && joint >= least) continue;
        least = joint;
        first = i;
        second = j;
      }
    }
    join(groups[first], groups[second]);
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(second));
  }

  static void join(Group& into, const Group& from) {
    into.vars = united(into.vars, from.vars);
    into.reduced = united(into.reduced, from.reduced);
    into.factors.insert(into.factors.end(), from.factors.begin(), from.factors.end());
  }

  double elements(const Group& group) const { return points_of(stages_, group.vars); }

  static std::vector<Factor> taken(const std::vector<Factor>& inner, Group group) {
    std::sort(group.factors.begin(), group.factors.end());
    std::vector<Factor> factors;
    for (const std::size_t at : group.factors) factors.push_back(inner[at]);
    return factors;
  }

  static bool has_numerator(const std::vector<Factor>& factors) {
    return std::any_of(factors.begin(), factors.end(),
                       [](const Factor& factor) { return !factor.is_divisor; });
  }

  const Stages& stages_;
  FreeVars& free_;
  const Vars& vars_;
  const Vars& reduced_;
  Factors result_;
};

}  // namespace

std::optional<FlatProduct> flat_product(const Stages& stages, NodeId product) {
  FlatProduct flat;
  if (!collect(stages, product, false, flat)) return std::nullopt;
  return flat;
}

NodeId product_of(NodeFactory& make, std::span<const Factor> factors, NodeId first, DType dtype) {
  NodeId product = first;
  for (const bool divides : {false, true}) {
    for (const Factor& factor : factors) {
      if (factor.is_divisor != divides) continue;
      const std::array both = {product, factor.node};
      product =
          product < 0 ? factor.node : make.primitive(divides ? Prim::Div : Prim::Mul, both, dtype);
    }
  }
  return product;
}

NodeId sum_of(NodeFactory& make, std::span<const Summand> summands, DType dtype) {
  NodeId sum = summands[0].node;
  if (summands[0].is_subtracted) sum = make.primitive(Prim::Neg, std::array{sum}, dtype);
  for (const Summand& summand : summands.subspan(1)) {
    const Prim prim = summand.is_subtracted ? Prim::Sub : Prim::Add;
    sum = make.primitive(prim, std::array{sum, summand.node}, dtype);
  }
  return sum;
}

std::optional<Factors> factors_of(const Stages& stages, FreeVars& free, NodeId product,
                                  const Vars& vars, const Vars& reduced) {
  return Grouping(stages, free, vars, reduced).run(product);
}

Scaled scaled(const Stages& stages, FreeVars& free, NodeId element, const Vars& reduced) {
  Scaled found{element, {}};
  const auto is_outside = [&](NodeId id) { return free.among(reduced, id).empty(); };
  for (;;) {
    const Node& node = stages.nodes[static_cast<std::size_t>(found.rest)];
    if (node.kind != NodeKind::Primitive) return found;
    const auto args = stages.args(node);
    if (node.prim == Prim::Neg) {
      found.is_negative = !found.is_negative;
      found.rest = args[0];
    } else if (node.prim == Prim::Mul && is_outside(args[0])) {
      found.outside.push_back({args[0]});
      found.rest = args[1];
    } else if ((node.prim == Prim::Mul || node.prim == Prim::Div) && is_outside(args[1])) {
      found.outside.push_back({args[1], node.prim == Prim::Div});
      found.rest = args[0];
    } else {
      return found;
    }
  }
}

}  // namespace relay::loops
