#include "index/any_point.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "index/decided_choices.h"
#include "index/linear_index.h"
#include "lang/alpha_equal.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/comparison.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
namespace build = lang::build;

namespace {

// An int64 that is the same at all points: `expr + plus`; null: 0.
struct Bound {
  Expr expr;
  std::int64_t plus = 0;
};

Bound bound_of(const Expr& expr, std::int64_t plus) {
  if (const auto number = expr ? number_in(expr) : 0) return {nullptr, *number + plus};
  return {expr, plus};
}

// Null: it always is.
Expr is_less(const Bound& a, const Bound& b) {
  const bool is_known = a.expr && b.expr ? lang::alpha_equal(a.expr, b.expr) : !a.expr && !b.expr;
  if (is_known) return a.plus < b.plus ? nullptr : build::constant(lang::DType::Bool, 0);
  if (!b.expr) return build::prim(Prim::Lt, {a.expr, build::index_constant(b.plus - a.plus)});
  if (!a.expr) return build::prim(Prim::Gt, {b.expr, build::index_constant(a.plus - b.plus)});
  const Expr left =
      a.plus == b.plus ? a.expr : build::add(a.expr, build::index_constant(a.plus - b.plus));
  return build::prim(Prim::Lt, {left, b.expr});
}

// What an index has to be: at least all of these, and below all of those.
class Bounds {
 public:
  // Of an index whose extent does not depend on `points`.
  Bounds(const IndexBinder& binder, const std::vector<IndexBinder>& points)
      : point_{binder}, points_(points), indices_(point_) {
    at_least_.push_back({nullptr, 0});
    below_.push_back(bound_of(binder.extent, 0));
  }

  // False where the side asks for more than a bound.
  bool add(const TakenSide& side) {
    const auto step = lang::arithmetic_step(side.condition);
    if (!step || !lang::is_comparison(step->prim) || !is_int64(step->args[0])) return false;
    const auto left = indices_.of(step->args[0]), right = indices_.of(step->args[1]);
    if (!left || !right) return false;
    const std::int64_t factor = factor_in(*left) - factor_in(*right);
    if (factor != 1 && factor != -1) return false;
    const Expr bound = factor == 1 ? difference(right->offset, left->offset)
                                   : difference(left->offset, right->offset);
    if (bound && !lang::used_by(bound, points_).empty()) return false;
    const Prim prim = side.holds ? step->prim : lang::negated(step->prim);
    switch (factor == 1 ? prim : lang::mirrored(prim)) {
      case Prim::Lt:
        below_.push_back(bound_of(bound, 0));
        return true;
      case Prim::Le:
        below_.push_back(bound_of(bound, 1));
        return true;
      case Prim::Gt:
        at_least_.push_back(bound_of(bound, 1));
        return true;
      case Prim::Ge:
        at_least_.push_back(bound_of(bound, 0));
        return true;
      case Prim::Eq:
        at_least_.push_back(bound_of(bound, 0));
        below_.push_back(bound_of(bound, 1));
        return true;
      default:
        return false;
    }
  }

  // Is there such an index, given that the extent is not 0? Null: yes.
  Expr are_met() const {
    Expr all;
    for (std::size_t low = 0; low < at_least_.size(); ++low) {
      for (std::size_t high = low == 0 ? 1 : 0; high < below_.size(); ++high) {
        if (const Expr fits = is_less(at_least_[low], below_[high])) all = both(all, fits);
      }
    }
    return all;
  }

 private:
  static std::int64_t factor_in(const LinearIndex& index) {
    return index.terms.empty() ? 0 : index.terms[0].factor;
  }
  static Expr difference(const Expr& a, const Expr& b) {
    if (!b) return a;
    return build::sub(a ? a : build::index_constant(0), b);
  }
  const std::vector<IndexBinder> point_;
  const std::vector<IndexBinder>& points_;
  LinearIndices indices_;
  std::vector<Bound> at_least_, below_;
};

bool depends_on(const TakenSide& side, const IndexBinder& binder) {
  return !lang::used_by(side.condition, {binder}).empty();
}

// Nothing where the sides ask for more of the index than bounds.
std::optional<Bounds> bounds_of(const IndexBinder& binder, const std::vector<TakenSide>& sides,
                                const std::vector<IndexBinder>& points) {
  if (!is_int64(binder.extent) || !lang::used_by(binder.extent, points).empty())
    return std::nullopt;
  std::optional<Bounds> bounds(std::in_place, binder, points);
  for (const TakenSide& side : sides) {
    if (depends_on(side, binder) && !bounds->add(side)) return std::nullopt;
  }
  return bounds;
}

// Does it divide, or call a function of the mathematical library?
bool may_be_infinite(const Expr& value) {
  bool is_so = false;
  lang::visit_post_order(value, [&](const Expr& node) {
    const auto step = lang::arithmetic_step(node);
    is_so = is_so || (step ? !lang::is_cheap(step->prim) : node->kind == lang::ExprKind::Call);
  });
  return is_so;
}

// Of more it is not asked whether bounds say all of it.
constexpr int kMostWays = 16;
constexpr std::size_t kMostConjuncts = 16;

// Null: always.
Expr both_of(const Expr& a, const Expr& b) { return b ? both(a, b) : a; }

// Takes the sides that are the same at all points out of conjuncts.
Expr take_known(std::vector<TakenSide>& sides, const std::vector<IndexBinder>& points) {
  std::vector<TakenSide> known, others;
  for (TakenSide& side : sides)
    (lang::used_by(side.condition, points).empty() ? known : others).push_back(std::move(side));
  sides = std::move(others);
  return all_of(known);
}

// Takes the bounds of indices out of conjuncts, if nothing else is asked of the index.
Expr take_bounds(std::vector<TakenSide>& sides, const std::vector<IndexBinder>& points) {
  Expr all;
  for (const IndexBinder& point : points) {
    const std::optional<Bounds> bounds = bounds_of(point, sides, points);
    if (!bounds) continue;
    std::erase_if(sides, [&](const TakenSide& side) { return depends_on(side, point); });
    all = both_of(all, bounds->are_met());
  }
  return all;
}

// Nothing where conjuncts ask for more than bounds, or in more than `most` ways.
struct Known {
  Expr condition;
};
std::optional<Known> by_bounds(std::vector<TakenSide> sides, const std::vector<IndexBinder>& points,
                               int most) {
  sides = with_choices_decided(std::move(sides));
  const Expr known = take_known(sides, points);
  const auto choice = std::ranges::find_if(
      sides, [](const TakenSide& side) { return junction(side.condition).has_value(); });
  if (choice == sides.end()) {
    const Expr bounds = take_bounds(sides, points);
    if (!sides.empty()) return std::nullopt;
    return Known{both_of(known, bounds)};
  }
  if (most < 2) return std::nullopt;
  const Junction one_of = *junction(choice->condition);
  const bool holds = choice->holds;
  sides.erase(choice);
  std::vector<Known> ways;
  for (const Expr& each : {one_of.a, one_of.b}) {
    std::vector<TakenSide> way = conjuncts({each, holds});
    way.insert(way.end(), sides.begin(), sides.end());
    const auto here = by_bounds(std::move(way), points, most / 2);
    if (!here) return std::nullopt;
    ways.push_back(*here);
  }
  const Expr &a = ways[0].condition, &b = ways[1].condition;
  return Known{both_of(known, a && b ? build::prim(Prim::Or, {a, b}) : nullptr)};
}

}  // namespace

Expr at_any_point(const std::vector<TakenSide>& sides, const std::vector<IndexBinder>& points) {
  std::vector<TakenSide> all = conjuncts_of(sides);
  if (all.size() <= kMostConjuncts) {
    if (const auto known = by_bounds(all, points, kMostWays)) return known->condition;
  }
  Expr known = take_known(all, points);
  known = both_of(known, take_bounds(all, points));
  const Expr rest = all_of(all);
  return both(known, lang::rename_bound(lang::make_reduction(lang::ReduceOp::Any,
                                                             lang::used_by(rest, points), rest)));
}

Expr kept_at_points(Expr value, const std::vector<TakenSide>& sides,
                    const std::vector<IndexBinder>& binders) {
  if (sides.empty()) return value;
  const std::vector<IndexBinder> points = lang::used_by(value, binders);
  std::vector<IndexBinder> more;  // on which it does not depend
  std::ranges::copy_if(binders, std::back_inserter(more), [&](const IndexBinder& binder) {
    return std::ranges::none_of(
        points, [&](const IndexBinder& each) { return each.variable == binder.variable; });
  });
  std::vector<TakenSide> of_more;
  const std::vector<TakenSide> all = conjuncts_of(sides);
  for (auto side = all.rbegin(); side != all.rend(); ++side) {
    if (lang::used_by(side->condition, more).empty()) {
      value = side->kept(value);
    } else {
      of_more.insert(of_more.begin(), *side);
    }
  }
  if (of_more.empty() || !may_be_infinite(value)) return value;
  for (const IndexBinder& each : lang::used_by(all_of(of_more), binders)) {
    if (!lang::used_by(each.extent, binders).empty()) return value;
  }
  return TakenSide{at_any_point(of_more, more)}.kept(value);
}

}  // namespace relay::index
