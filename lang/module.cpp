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
  return found == definitions_.end() ? nullptr : found->second.get();
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
  auto entry = std::make_shared<Definition>(std::move(definition));
  std::shared_ptr<Definition>& slot = definitions_[entry->name];
  if (slot) std::erase(order_, slot);
  slot = entry;
  order_.push_back(std::move(entry));
}

void Module::define(TypeDefRef type) {
  RELAY_CHECK(type, "a type definition is empty");
  const TypeDef* replaced = find_type(type->name);
  if (replaced && replaced->origin == Origin::Own && type->origin == Origin::Imported) {
    types_.push_back(std::move(type));
    return;
  }
  if (replaced) {
    std::erase_if(constructors_,
                  [&](const auto& entry) { return entry.second->owner == replaced; });
  }
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
    std::erase(order_, found->second);
    definitions_.erase(found);
  }
  if (const auto found = type_names_.find(name); found != type_names_.end()) {
    const TypeDef* type = found->second;
    std::erase_if(constructors_, [&](const auto& entry) { return entry.second->owner == type; });
    type_names_.erase(found);
  }
}

void Module::alias(const std::string& name, const std::string& full_name) {
  aliases_[name] = full_name;
}

void Module::import(const Module& library) {
  for (const auto& definition : library.order_) {
    if (!find(definition->name)) define(*definition);
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
  for (const auto& definition : order_) result.push_back(definition.get());
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
