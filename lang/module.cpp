#include "lang/module.h"

#include <algorithm>

#include "lang/diagnostic.h"

namespace relay::lang {

std::string usage_of(std::string_view function, const Parameters& parameters) {
  std::string text;
  for (const Parameter& each : parameters.list) {
    text += (text.empty() ? "" : ", ") + each.name;
    if (each.attribute) text += "=" + each.attribute->to_string();
    if (each.default_value) text += "=" + std::string(each.default_value->span.text());
  }
  return std::string(function) + "(" + text + ")";
}

namespace {

template <class Map>
auto value_at(const Map& map, std::string_view name) -> typename Map::mapped_type {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

const Definition* Module::find(std::string_view name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : found->second.definition.get();
}

DefinitionRef Module::held(std::string_view name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : found->second.definition;
}

const Definition* Module::lookup(std::string_view name) const {
  const Definition* found = find(name);
  if (found && found->origin == Origin::Own) return found;
  const auto alias = aliases_.find(name);
  return alias == aliases_.end() ? found : find(alias->second);
}

const TypeDef* Module::find_type(std::string_view name) const {
  return value_at(type_names_, name);
}

const Constructor* Module::find_constructor(std::string_view name) const {
  return value_at(constructors_, name);
}

void Module::define(Definition definition) {
  define(std::make_shared<const Definition>(std::move(definition)));
}

void Module::define(DefinitionRef definition) {
  Entry& slot = definitions_[definition->name];
  order_.push_back(definition);  // if there is no memory for it, the old one stays
  if (slot.definition) leave_order(slot);
  slot = {std::move(definition), order_.size() - 1};
}

// Gaps are closed once they are half of it: on the whole, the cost of one step for each.
void Module::leave_order(const Entry& entry) {
  order_[entry.place] = nullptr;
  if (++gaps_ * 2 <= order_.size()) return;
  std::vector<std::size_t> places;  // new ones, by the old
  places.reserve(order_.size());
  std::size_t next = 0;
  for (const DefinitionRef& each : order_) places.push_back(each ? next++ : next);
  std::erase(order_, nullptr);
  gaps_ = 0;
  for (auto& [name, each] : definitions_) {
    if (each.definition) each.place = places[each.place];
  }
}

void Module::forget_constructors(const TypeDef& type) {
  for (const Constructor& constructor : type.constructors) {
    const auto found = constructors_.find(constructor.name);
    if (found != constructors_.end() && found->second->owner == &type) constructors_.erase(found);
  }
}

void Module::define(TypeDefRef type) {
  RELAY_CHECK(type, "a type definition is empty");
  const TypeDef* replaced = find_type(type->name);
  if (replaced && replaced->origin == Origin::Own && type->origin == Origin::Imported) {
    types_.push_back(std::move(type));
    return;
  }
  if (replaced) forget_constructors(*replaced);
  std::uint32_t tag = 0;
  for (Constructor& constructor : type->constructors) {
    constructor.owner = type.get();
    constructor.tag = tag++;
    constructors_[constructor.name] = &constructor;
  }
  type_names_[type->name] = type.get();
  types_.push_back(std::move(type));
}

void Module::remove(std::string_view name) {
  if (const auto found = definitions_.find(name); found != definitions_.end()) {
    if (found->second.definition) leave_order(found->second);
    definitions_.erase(found);
  }
  if (const auto found = type_names_.find(name); found != type_names_.end()) {
    forget_constructors(*found->second);
    type_names_.erase(found);
  }
}

void Module::alias(const std::string& name, const std::string& full_name) {
  aliases_[name] = full_name;
}

void Module::import(const Module& library) {
  for (const auto& definition : library.order_) {
    if (definition && !find(definition->name)) define(*definition);
  }
  for (const auto& [name, full_name] : library.aliases_) aliases_[name] = full_name;
  for (const TypeDefRef& type : library.types_) {
    const bool is_named = library.find_type(type->name) == type.get();
    if (is_named && find_type(type->name) != type.get()) define(type);
  }
}

std::vector<const Definition*> Module::definitions() const {
  std::vector<const Definition*> result;
  result.reserve(order_.size());
  for (const auto& definition : order_) {
    if (definition) result.push_back(definition.get());
  }
  return result;
}

std::vector<const TypeDef*> Module::types() const {
  std::vector<const TypeDef*> result;
  for (const TypeDefRef& type : types_) {
    if (find_type(type->name) == type.get()) result.push_back(type.get());
  }
  return result;
}

}  // namespace relay::lang
