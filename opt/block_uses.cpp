#include "opt/block_uses.h"

#include <algorithm>

#include "lang/visit.h"

namespace relay::opt {

using lang::Block;
using lang::Expr;
using lang::Variable;
using lang::VariableRef;

const Expr& BlockUses::value_at(const Block& block, std::size_t place) {
  return place < block.bindings.size() ? block.bindings[place].value : block.result;
}

std::size_t BlockUses::known(const Expr& value) {
  if (const std::size_t* found = known_index_.find(value.get())) return *found;
  known_.push_back({value, lang::free_variables(value), std::nullopt});
  known_index_.insert(value.get(), known_.size() - 1);
  return known_.size() - 1;
}

BlockUses::Entry& BlockUses::entry(const VariableRef& variable) {
  if (entry_index_.insert(variable.get(), entries_.size())) {
    entries_.emplace_back();
    kept_alive_.push_back(variable);
    return entries_.back();
  }
  return entries_[*entry_index_.find(variable.get())];
}

const BlockUses::Entry* BlockUses::find(const Variable* variable) const {
  const std::size_t* index = entry_index_.find(variable);
  return index ? &entries_[*index] : nullptr;
}

void BlockUses::read(const Block& block) {
  for (Entry& entry : entries_) {
    entry.place.reset();
    entry.users.clear();
  }
  at_.clear();
  for (std::size_t place = 0; place <= block.bindings.size(); ++place) {
    at_.push_back(known(value_at(block, place)));
    for (const VariableRef& variable : known_[at_.back()].used)
      entry(variable).users.push_back(place);
    if (place < block.bindings.size()) entry(block.bindings[place].variable).place = place;
  }
}

void BlockUses::change(const Block& block, std::size_t place) {
  for (const VariableRef& variable : known_[at_[place]].used) {
    std::vector<std::size_t>& users = entry(variable).users;
    users.erase(std::lower_bound(users.begin(), users.end(), place));
  }
  at_[place] = known(value_at(block, place));
  for (const VariableRef& variable : known_[at_[place]].used) {
    std::vector<std::size_t>& users = entry(variable).users;
    users.insert(std::lower_bound(users.begin(), users.end(), place), place);
  }
  if (place < block.bindings.size()) entry(block.bindings[place].variable).place = place;
}

std::optional<std::size_t> BlockUses::place_of(const Variable* variable) const {
  const Entry* found = find(variable);
  return found ? found->place : std::nullopt;
}

const std::vector<std::size_t>& BlockUses::users_of(const Variable* variable) const {
  static const std::vector<std::size_t> none;
  const Entry* found = find(variable);
  return found ? found->users : none;
}

const std::vector<VariableRef>& BlockUses::used_at(std::size_t place) const {
  return known_[at_[place]].used;
}

bool BlockUses::has_effect_at(std::size_t place) {
  Known& value = known_[at_[place]];
  if (!value.has_effect) value.has_effect = effects_.has_effect(value.value);
  return *value.has_effect;
}

}  // namespace relay::opt
