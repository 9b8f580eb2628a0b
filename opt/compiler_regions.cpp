#include "opt/compiler_regions.h"

#include <queue>

#include <fmt/format.h>

#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

CompilerRegions::CompilerRegions(const lang::Block& block, Effects& effects)
    : block_(block), groups_(block.bindings.size()) {
  for (std::size_t i = 0; i < block.bindings.size(); ++i) {
    places_[block.bindings[i].variable.get()] = i;
    groups_[i].mark = compiler_mark(block.bindings[i].value);
    groups_[i].used = lang::free_variables(block.bindings[i].value);
  }
  std::size_t effect = kNone;  // the last one
  for (std::size_t i = 0; i < block.bindings.size(); ++i) {
    const lang::Binding& binding = block.bindings[i];
    effects.define(binding.variable, binding.value);
    for (const auto& variable : groups_[i].used) {
      const std::size_t place = place_of(variable_of(behind_marks(variable)));
      if (place != kNone) groups_[i].uses.push_back(place);
    }
    // What has an effect stays in order.
    if (groups_[i].mark || !effects.has_effect(binding.value)) continue;
    if (effect != kNone) groups_[i].uses.push_back(effect);
    effect = i;
  }
  read_regions();
}

std::size_t CompilerRegions::place_of(const lang::Variable* variable) const {
  const std::size_t* found = variable ? places_.find(variable) : nullptr;
  return found ? *found : kNone;
}

Expr CompilerRegions::behind_marks(const lang::VariableRef& variable) const {
  const Expr* value = nullptr;
  std::size_t place = place_of(variable.get());
  while (place != kNone && groups_[place].mark) {
    value = &groups_[place].mark->value;
    place = place_of(variable_of(*value));
  }
  return value ? *value : lang::make_var(variable);
}

void CompilerRegions::read_regions() {
  const auto become_part = [&](std::size_t place, const std::string& target, lang::Span where) {
    std::size_t& region = groups_[place].region;
    if (region == kNone) {
      region = targets_.size();
      targets_.emplace_back();
      joined_.push_back(region);
    }
    set_target(joined(region), target, where);
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const lang::Span span = block_.bindings[i].span;
    if (const auto& mark = groups_[i].mark) {
      const std::size_t inner = place_of(variable_of(mark->value));
      if (!mark->is_begin && inner != kNone && !groups_[inner].mark)
        become_part(inner, mark->compiler, span);
      continue;
    }
    for (const auto& variable : groups_[i].used) {
      const std::size_t place = place_of(variable.get());
      if (place == kNone || !groups_[place].mark) continue;
      const CompilerMark& mark = *groups_[place].mark;
      if (mark.is_begin) become_part(i, mark.compiler, span);
    }
  }
  // What stands between steps of a region, without marks, is part of it.
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!is_step(i)) continue;
      for (const auto& variable : groups_[i].used) {
        const std::size_t place = place_of(variable.get());
        if (place != kNone && is_step(place)) is_changed = connect(i, place) || is_changed;
      }
    }
  }
}

// May it be part of a region?
bool CompilerRegions::is_step(std::size_t place) const {
  if (groups_[place].mark) return false;
  const lang::ExprKind kind = block_.bindings[place].value->kind;
  return kind == lang::ExprKind::Call || kind == lang::ExprKind::Tuple ||
         kind == lang::ExprKind::Projection;
}

void CompilerRegions::set_target(std::size_t region, const std::string& target, lang::Span place) {
  std::string& known = targets_[region];
  if (known.empty()) known = target;
  if (known == target) return;
  lang::fail(lang::DiagnosticKind::BadAttribute,
             fmt::format("a step is marked for the compilers `{}` and `{}`", known, target), place);
}

// Of two steps of which one uses the other. True if that was not known.
bool CompilerRegions::connect(std::size_t a, std::size_t b) {
  std::size_t& one = groups_[a].region;
  std::size_t& other = groups_[b].region;
  if (one == kNone && other == kNone) return false;
  if (one == kNone || other == kNone) {
    (one == kNone ? one : other) = one == kNone ? other : one;
    return true;
  }
  const std::size_t first = joined(one);
  const std::size_t second = joined(other);
  if (first == second) return false;
  set_target(first, targets_[second], block_.bindings[a].span);
  joined_[second] = first;
  return true;
}

std::size_t CompilerRegions::joined(std::size_t region) const {
  while (joined_[region] != region) {
    joined_[region] = joined_[joined_[region]];
    region = joined_[region];
  }
  return region;
}

// Regions are numbered behind the bindings.
std::size_t CompilerRegions::node_of(std::size_t place) const {
  const std::size_t region = groups_[place].region;
  return region == kNone ? place : groups_.size() + joined(region);
}

std::size_t CompilerRegions::joined_node(std::size_t node) const {
  return node < groups_.size() ? node : groups_.size() + joined(node - groups_.size());
}

CompilerRegions::Users CompilerRegions::users() const {
  Users users(groups_.size() + targets_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].mark) continue;
    const std::size_t to = node_of(i);
    for (const std::size_t used : groups_[i].uses) {
      const std::size_t from = node_of(used);
      if (from != to) users[from].push_back(to);
    }
  }
  return users;
}

bool CompilerRegions::is_reached_around(std::size_t from, std::size_t to,
                                        const Users& users) const {
  std::vector<bool> seen(users.size(), false);
  std::vector<std::size_t> open;
  for (const std::size_t user : users[from]) {
    if (const std::size_t node = joined_node(user); node != to) open.push_back(node);
  }
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (node == to) return true;
    if (seen[node]) continue;
    seen[node] = true;
    for (const std::size_t user : users[node]) open.push_back(joined_node(user));
  }
  return false;
}

void CompilerRegions::join() {
  Users known = users();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].mark || groups_[i].region == kNone) continue;
    for (const std::size_t used : groups_[i].uses) {
      if (groups_[used].region == kNone) continue;
      const std::size_t from = joined(groups_[used].region);
      const std::size_t to = joined(groups_[i].region);
      if (from == to || targets_[from] != targets_[to] || targets_[to] == kNoCompiler) continue;
      const std::size_t whole = node_of(used);
      const std::size_t part = node_of(i);
      if (is_reached_around(whole, part, known)) continue;
      joined_[to] = from;
      std::vector<std::size_t>& users_of_whole = known[whole];
      users_of_whole.insert(users_of_whole.end(), known[part].begin(), known[part].end());
      std::erase_if(users_of_whole, [&](std::size_t user) { return joined_node(user) == whole; });
      known[part].clear();
    }
  }
}

std::vector<std::size_t> CompilerRegions::in_order() const {
  const auto known = users();
  std::vector<std::size_t> waits_for(known.size(), 0);
  for (const auto& list : known) {
    for (const std::size_t user : list) ++waits_for[user];
  }
  std::vector<std::vector<std::size_t>> members(known.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].mark) members[node_of(i)].push_back(i);
  }
  // Of those that could come next, the one whose last binding stood first.
  using Entry = std::pair<std::size_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  std::size_t wanted = 0;
  for (std::size_t node = 0; node < known.size(); ++node) {
    if (members[node].empty()) continue;
    wanted += members[node].size();
    if (waits_for[node] == 0) next.emplace(members[node].back(), node);
  }
  std::vector<std::size_t> order;
  while (!next.empty()) {
    const std::size_t node = next.top().second;
    next.pop();
    order.insert(order.end(), members[node].begin(), members[node].end());
    for (const std::size_t user : known[node]) {
      if (--waits_for[user] == 0) next.emplace(members[user].back(), user);
    }
  }
  return order.size() == wanted ? order : std::vector<std::size_t>();
}

}  // namespace relay::opt
