#include "index/ways.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lang/build.h"

namespace relay::index {

using lang::Expr;
using lang::Prim;
namespace build = lang::build;

namespace {

// More than these become one (few).
constexpr std::size_t kMostWays = 64;

using Way = std::vector<std::size_t>;

// The sides of condition `n` have the numbers 2 n (it holds) and 2 n + 1.
std::size_t other_side(std::size_t side) { return side ^ 1; }

bool asks_for(const Way& way, std::size_t side) {
  return std::binary_search(way.begin(), way.end(), side);
}

Way with(Way way, std::size_t side) {
  const auto place = std::lower_bound(way.begin(), way.end(), side);
  if (place == way.end() || *place != side) way.insert(place, side);
  return way;
}

Way without(Way way, std::size_t side) {
  way.erase(std::lower_bound(way.begin(), way.end(), side));
  return way;
}

// Does the first one hold wherever the second one does?
bool covers(const Way& a, const Way& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

// A side that `way` need not ask for, as where the other one is taken `known` does; or its end.
Way::const_iterator needless(const Way& way, const Way& known) {
  return std::find_if(way.begin(), way.end(), [&](std::size_t side) {
    return asks_for(known, other_side(side)) && !asks_for(known, side) &&
           covers(without(known, other_side(side)), way);
  });
}

void add(Ways& ways, Way first) {
  Ways waiting{std::move(first)};
  while (!waiting.empty()) {
    Way way = std::move(waiting.back());
    waiting.pop_back();
    for (auto known = ways.begin(); known != ways.end();) {
      const auto side = needless(way, *known);
      const bool is_shorter = side != way.end();
      if (is_shorter) way.erase(side);
      known = is_shorter ? ways.begin() : known + 1;  // what was compared may say more now
    }
    if (std::any_of(ways.begin(), ways.end(), [&](const Way& each) { return covers(each, way); }))
      continue;
    for (auto each = ways.begin(); each != ways.end();) {
      const auto side = needless(*each, way);
      const bool is_shorter = side != each->end();
      if (is_shorter) waiting.push_back(without(*each, *side));
      each = is_shorter || covers(way, *each) ? ways.erase(each) : each + 1;
    }
    ways.insert(std::lower_bound(ways.begin(), ways.end(), way), way);
  }
}

Way shared(const Ways& ways) {
  Way all = ways.empty() ? Way() : ways[0];
  for (const Way& way : ways) {
    Way both;
    std::set_intersection(all.begin(), all.end(), way.begin(), way.end(), std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

Ways rest(const Ways& ways, const Way& known) {
  Ways all;
  for (const Way& way : ways) {
    Way more;
    std::set_difference(way.begin(), way.end(), known.begin(), known.end(),
                        std::back_inserter(more));
    all.push_back(std::move(more));
  }
  return all;
}

}  // namespace

std::vector<TakenSide> AskedMore::all() const {
  std::vector<TakenSide> all = sides;
  if (any.condition) all.push_back(any);
  return all;
}

Expr AskedMore::kept(Expr value, bool is_loose) const {
  if (is_loose) value = any.kept(value);
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) value = side->kept(value);
  return value;
}

Ways Conditions::also(const Ways& ways, const TakenSide& side) {
  Ways all = ways;
  for (const TakenSide& each : conjuncts(side)) all = also_plain(all, each);
  return all;
}

// The side is none of several ones that have to be taken together.
Ways Conditions::also_plain(const Ways& ways, const TakenSide& side) {
  if (const std::optional<Junction> one_of = junction(side.condition))
    return either(also(ways, {one_of->a, side.holds}), also(ways, {one_of->b, side.holds}));
  const std::size_t number = number_of(side);
  Ways all;
  for (const Way& way : ways) {
    if (!asks_for(way, other_side(number))) add(all, with(way, number));
  }
  if (all.empty() && !ways.empty()) all = {with(ways[0], number)};  // code that is never taken
  return all;
}

Ways Conditions::either(const Ways& a, const Ways& b) {
  Ways all = a;
  for (const Way& way : b) add(all, way);
  return few(std::move(all));
}

Ways Conditions::both(const Ways& a, const Ways& b) {
  Ways all;
  for (const Way& first : a) {
    for (const Way& second : b) {
      Way way;
      std::set_union(first.begin(), first.end(), second.begin(), second.end(),
                     std::back_inserter(way));
      add(all, std::move(way));
    }
  }
  return few(std::move(all));
}

Ways Conditions::only(const Ways& ways, const std::function<bool(const Expr&)>& is_such) {
  Ways all;
  for (Way way : ways) {
    std::erase_if(way, [&](std::size_t side) { return !is_such(conditions_[side / 2]); });
    add(all, std::move(way));
  }
  return all;
}

AskedMore Conditions::asked_more(const Ways& inner, const Ways& outer) {
  const Way own = shared(inner);
  const Way known = shared(outer);
  AskedMore asked;
  for (std::size_t number : own) {
    if (!asks_for(known, number)) asked.sides.push_back(side(number));
  }
  const Ways more = rest(inner, own);
  if (more.size() > 1) asked.any = {any_of(more), true};
  return asked;
}

std::size_t Conditions::number_of(const TakenSide& side) {
  const auto [place, is_new] = numbers_.try_emplace(side.condition.get(), conditions_.size());
  if (is_new) conditions_.push_back(side.condition);
  return 2 * place->second + (side.holds ? 0 : 1);
}

TakenSide Conditions::side(std::size_t number) const {
  return {conditions_[number / 2], number % 2 == 0};
}

Ways Conditions::few(Ways ways) {
  if (ways.size() > kMostWays) ways = {{number_of({any_of(ways), true})}};
  return ways;
}

Expr Conditions::any_of(const Ways& ways) {
  const auto [place, is_new] = any_of_.try_emplace(ways);
  if (!is_new) return place->second;
  Expr& any = place->second;
  for (const Way& way : ways) {
    Expr all;
    for (std::size_t number : way) all = index::both(all, side(number).truth());
    any = any ? build::prim(Prim::Or, {any, all}) : all;
  }
  return any;
}

}  // namespace relay::index
