#include "ad/adjoint_scope.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "index/any_point.h"
#include "index/conditions.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using index::AskedMore;
using index::TakenSide;
using index::Ways;
using lang::Expr;
using lang::IndexBinder;

using Id = AdjointScopes::Id;

Id AdjointScopes::outermost(std::vector<IndexBinder> points) {
  return add_level({kNone, levels_.size(), 0, std::move(points)});
}

Id AdjointScopes::at_points(Id around, std::vector<IndexBinder> points) {
  const Level& outer = levels_[scopes_[around].level];
  return add_level({around, outer.tree, outer.depth + 1, std::move(points)});
}

Id AdjointScopes::on_side(Id around, const TakenSide& side) {
  const std::size_t known = scopes_.size();
  const Id inner = scope(scopes_[around].level, conditions_.also(scopes_[around].ways, side));
  if (inner == known) {
    scopes_[inner].wider = around;
    scopes_[inner].by = side;
  }
  return inner;
}

Id AdjointScopes::meeting(Id a, Id b) {
  while (scopes_[a].level != scopes_[b].level) {
    Id& deeper = levels_[scopes_[a].level].depth >= levels_[scopes_[b].level].depth ? a : b;
    deeper = outer(deeper).scope;
  }
  if (a == b) return a;
  const std::size_t known = scopes_.size();
  const Id both = scope(scopes_[a].level, conditions_.either(scopes_[a].ways, scopes_[b].ways));
  if (both == known) scopes_[both].wider = wider_than(a, b);
  return both;
}

std::vector<IndexBinder> AdjointScopes::points(Id scope) const {
  const Level& level = levels_[scopes_[scope].level];
  std::vector<IndexBinder> all;
  if (level.around != kNone) all = points(level.around);
  all.insert(all.end(), level.points.begin(), level.points.end());
  return all;
}

const std::vector<AskedMore>& AdjointScopes::sides(Id scope) {
  const auto found = sides_.find(scope);
  if (found != sides_.end()) return found->second;
  const Id around = levels_[scopes_[scope].level].around;
  std::vector<AskedMore> all;
  if (around != kNone) all = sides(around);
  if (scope != all_of_level(scope)) all.push_back(asked_more(scope, all_of_level(scope)));
  return sides_.emplace(scope, std::move(all)).first->second;
}

AdjointScopes::Sum AdjointScopes::sum(const std::vector<Part>& parts, Id to) {
  Sum sum;
  Waiting waiting;
  for (const Part& part : parts) add(waiting, without_points(part, to));
  Id written = to;  // what they all were entered from
  bool are_several = scopes_[to].ways.size() > 1;
  for (const auto& [scope, part] : waiting) {
    written = wider_than(written, scope);
    are_several = are_several || scopes_[scope].ways.size() > 1;
  }
  // Of several sides each is told as it is written: `a && b` in one, its `else` in the other.
  if (written == kNone || (written != to && !are_several)) {
    leave_one_by_one(waiting, to);
    written = to;
  } else if (waiting.size() > 1 || waiting.begin()->first != to) {
    while (waiting.begin()->first != written) {
      Part part = std::move(waiting.begin()->second);
      waiting.erase(waiting.begin());
      const Id wider = scopes_[part.scope].wider;
      part.value = asked_more(part.scope, wider).kept(part.value, part.is_loose);
      part.scope = wider;
      add(waiting, std::move(part));
    }
  }
  sum.value = waiting.begin()->second.value;
  const Id all = all_of_level(to);
  const bool is_kept = written != to && written == all && sides(all).empty();
  sum.is_loose = !is_kept && waiting.begin()->second.is_loose;
  return sum;
}

Expr AdjointScopes::taken(const std::vector<Id>& scopes, Id to) {
  // Without what points choose they are all that `to` is.
  const auto is_chosen = [&](Id each) {
    while (scopes_[each].level != scopes_[to].level) {
      if (!outer(each).has_all) return true;
      each = outer(each).scope;
    }
    return false;
  };
  if (std::ranges::none_of(scopes, is_chosen)) return nullptr;
  Expr any;
  for (const Id inner : std::set<Id>(scopes.begin(), scopes.end())) {
    std::vector<TakenSide> sides;
    Id scope = inner;
    for (; scopes_[scope].level != scopes_[to].level; scope = outer(scope).scope) {
      const std::vector<IndexBinder>& points = levels_[scopes_[scope].level].points;
      for (const TakenSide& side :
           index::conjuncts_of(asked_more(scope, all_of_level(scope)).all())) {
        if (!lang::used_by(side.condition, points).empty()) sides.push_back(side);
      }
      const Expr at_any = index::at_any_point(sides, points);
      sides.clear();
      if (at_any) sides.push_back({at_any});
    }
    std::ranges::move(asked_more(scope, to).all(), std::back_inserter(sides));
    const Expr all = index::all_of(sides);
    if (!all) return nullptr;
    any = any ? lang::build::prim(lang::Prim::Or, {any, all}) : all;
  }
  return any;
}

void AdjointScopes::add(Waiting& waiting, Part part) {
  const auto [place, is_new] = waiting.try_emplace(part.scope, part);
  if (is_new) return;
  place->second.value = lang::build::add(place->second.value, part.value);
  place->second.is_loose = place->second.is_loose || part.is_loose;
}

// The part in a scope with the points of `to`.
AdjointScopes::Part AdjointScopes::without_points(Part part, Id to) {
  while (scopes_[part.scope].level != scopes_[to].level) {
    part.value = asked_more(part.scope, all_of_level(part.scope)).kept(part.value, part.is_loose);
    part.value = lang::rename_bound(lang::make_reduction(
        lang::ReduceOp::Sum, levels_[scopes_[part.scope].level].points, part.value));
    part.scope = outer(part.scope).scope;
  }
  return part;
}

void AdjointScopes::leave_one_by_one(Waiting& waiting, Id to) {
  Waiting left;
  for (auto& [scope, part] : waiting) {
    part.value = asked_more(scope, to).kept(part.value, part.is_loose);
    part.scope = to;
    add(left, std::move(part));
  }
  waiting = std::move(left);
}

// What is around the points of a scope.
const AdjointScopes::Outer& AdjointScopes::outer(Id inner) {
  const auto [place, is_new] = outer_.try_emplace(inner);
  if (is_new) {
    const Level& level = levels_[scopes_[inner].level];
    const Ways& all = scopes_[inner].ways;
    const Ways ways = conditions_.only(
        all, [&](const Expr& condition) { return lang::used_by(condition, level.points).empty(); });
    const bool has_all = ways == all;  // before there are more scopes
    const Scope& around = scopes_[level.around];
    place->second = {scope(around.level, conditions_.both(around.ways, ways)), has_all};
  }
  return place->second;
}

// As they are written, where the one was entered from the other.
AskedMore AdjointScopes::asked_more(Id inner, Id outer) {
  AskedMore asked;
  for (Id each = inner; each != outer; each = scopes_[each].wider) {
    const Id wider = scopes_[each].wider;
    const TakenSide& by = scopes_[each].by;
    AskedMore more;
    if (by.condition) {
      more.sides = {by};
    } else if (wider != kNone) {
      more = conditions_.asked_more(scopes_[each].ways, scopes_[wider].ways);
    }
    if (wider == kNone || (asked.any.condition && more.any.condition))
      return conditions_.asked_more(scopes_[inner].ways, scopes_[outer].ways);
    asked.sides.insert(asked.sides.begin(), more.sides.begin(), more.sides.end());
    if (more.any.condition) asked.any = more.any;
  }
  return asked;
}

// The innermost one that both were entered from. Null: none is known.
Id AdjointScopes::wider_than(Id a, Id b) const {
  while (a != b && a != kNone && b != kNone) {
    Id& later = a > b ? a : b;
    later = scopes_[later].wider;
  }
  return a == b ? a : kNone;
}

Id AdjointScopes::add_level(Level level) {
  levels_.push_back(std::move(level));
  return levels_.back().all = scope(levels_.size() - 1, {{}});
}

Id AdjointScopes::scope(std::size_t level, Ways ways) {
  const auto [place, is_new] = known_.try_emplace({level, ways}, scopes_.size());
  if (is_new) scopes_.push_back({level, std::move(ways)});
  return place->second;
}

}  // namespace relay::ad
