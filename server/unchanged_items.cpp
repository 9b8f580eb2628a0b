#include "server/unchanged_items.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/visit.h"
#include "typecheck/components.h"

namespace relay::server {

using lang::Origin;
using parser::Item;
using parser::ItemKind;
using parser::NameKind;
using parser::Occurrence;

namespace {

constexpr std::string_view kGradient = ".gradient";

// Does it hold data of a type that the text itself defines? Such a type is another one when the
// text is read again.
bool has_own_data(const lang::Type& type) {
  if (const auto* adt = lang::as<lang::AdtType>(type)) {
    return adt->def->origin == Origin::Own ||
           std::any_of(adt->args.begin(), adt->args.end(), has_own_data);
  }
  if (const auto* tuple = lang::as<lang::TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_own_data);
  if (const auto* function = lang::as<lang::FunctionType>(type)) {
    return has_own_data(function->result) ||
           std::any_of(function->params.begin(), function->params.end(), has_own_data);
  }
  const auto* reference = lang::as<lang::ReferenceType>(type);
  return reference && has_own_data(reference->content);
}

std::string place_of(const Item& item) {
  return fmt::format("{}:{}:{}", item.span.begin, item.span.end, item.name);
}

std::vector<std::string> defined_by(const Item& item) {
  std::vector<std::string> names;
  if (item.kind == ItemKind::Expression) return names;
  if (!item.pattern) return {item.name};
  lang::for_each_variable(item.pattern, [&](const lang::VariableRef& variable) {
    names.push_back(item.prefix + variable->name);
  });
  return names;
}

// What an item says, and what the names in it mean. The texts of globals are not in it.
std::string key_of(const Item& item, const parser::Occurrences& occurrences) {
  std::string key = fmt::format("{} {} {}\n", static_cast<int>(item.kind), item.name,
                                std::string_view(item.span.text()));
  const auto first = std::lower_bound(
      occurrences.begin(), occurrences.end(), item.span.begin,
      [](const Occurrence& each, std::uint32_t begin) { return each.span.begin < begin; });
  for (auto each = first; each != occurrences.end() && each->span.end <= item.span.end; ++each) {
    key += static_cast<char>('a' + static_cast<int>(each->kind));
    if (each->kind == NameKind::Global || each->kind == NameKind::Operator) key += each->name;
    // Which of several locals of one name.
    if (each->kind == NameKind::Local && each->definition)
      key += std::to_string(each->definition.begin - item.span.begin);
    key += each->definition ? ' ' : '\n';
  }
  return key;
}

// Those who call a function know of it its type and nothing else, unless they have to know what
// stands for arguments that are left out.
bool has_own_scheme(const Item& item) {
  return item.kind == ItemKind::Def && !item.parameters && item.instance_of.empty();
}

}  // namespace

UnchangedItems::UnchangedItems(const repl::ReadText& text, typecheck::Checker& checker,
                               const RightItems& before)
    : checker_(checker), before_(before), items_(text.reading.parsed.items) {
  for (const Item& item : items_) {
    if (item.expr) keys_[place_of(item)] = key_of(item, text.occurrences);
  }
  for (const auto& [key, known] : before_) schemes_before_.insert(known.scheme);
}

bool UnchangedItems::find(const Item& item, lang::Type& type) {
  if (!std::exchange(has_looked_, true)) find_changed();
  if (changed_.contains(place_of(item))) return false;
  const std::string& key = keys_[place_of(item)];
  const RightItem& known = before_.at(key);
  type = known.type;
  if (item.kind == ItemKind::Let && !type) return false;
  right_.emplace(key, known);
  return true;
}

void UnchangedItems::add(const Item& item, const lang::Type& type) {
  if (type && has_own_data(type)) return;
  right_.emplace(keys_[place_of(item)],
                 RightItem{type, item.kind == ItemKind::Def ? shown_scheme(item.name) : ""});
}

// What is to be checked: what says something else than before, and what mentions what has another
// type than before.
void UnchangedItems::find_changed() {
  Readers readers;
  std::unordered_map<std::string, const Item*> named;
  std::unordered_set<std::string> open;  // globals that have a type when a `let` has
  std::vector<std::string> work;
  std::vector<const Item*> changed;
  for (const Item& item : items_) {
    if (!item.expr) continue;
    for (const std::string& name : typecheck::globals_of(item.expr)) readers[name].push_back(&item);
    // A gradient has the type of its function.
    if (item.name.ends_with(kGradient))
      readers[item.name.substr(0, item.name.size() - kGradient.size())].push_back(&item);
    bool is_changed = !before_.contains(keys_[place_of(item)]);
    for (const std::string& name : defined_by(item)) {
      const bool is_second = !named.emplace(name, &item).second;
      is_changed |= is_second;
      if (item.kind == ItemKind::Let || is_second) work.push_back(name);
    }
    if (is_changed) changed.push_back(&item);
  }
  while (!work.empty()) {
    const std::string name = std::move(work.back());
    work.pop_back();
    if (!open.insert(name).second) continue;
    for (const Item* reader : readers[name]) {
      for (const std::string& next : defined_by(*reader)) work.push_back(next);
    }
  }
  // Which of them have another type than before, inference tells. Where it fails, what it says may
  // depend on its order, which is that of the text: nothing has been inferred then.
  const bool is_told = !before_.empty() && spread(changed, readers, &open);
  if (!is_told) {
    for (const Item& item : items_) {
      if (item.kind == ItemKind::Def) checker_.forget(item.name);
    }
    spread(changed, readers, nullptr);
  }
}

// From what is changed to what mentions it. `open`: globals of which nothing may be inferred yet;
// null where nothing is to be inferred at all. False where inference has failed.
bool UnchangedItems::spread(std::vector<const Item*> changed, Readers& readers,
                            const std::unordered_set<std::string>* open) {
  changed_.clear();
  for (const Item* item : changed) changed_.insert(place_of(*item));
  while (!changed.empty()) {
    const Item* item = changed.back();
    changed.pop_back();
    for (const std::string& name : defined_by(*item)) {
      if (open && !open->contains(name) && has_own_scheme(*item)) {
        const std::string scheme = shown_scheme(name);
        if (scheme.empty()) return false;
        if (schemes_before_.contains(scheme)) continue;
      }
      for (const Item* reader : readers[name]) {
        if (changed_.insert(place_of(*reader)).second) changed.push_back(reader);
      }
    }
  }
  return true;
}

// Empty where it has none. All that instances of the scheme depend on is in it.
std::string UnchangedItems::shown_scheme(const std::string& name) {
  auto scheme = checker_.scheme(name);
  if (!scheme) return "";
  scheme->usual = nullptr;
  std::string text = fmt::format("{}: {}", name, to_string(*scheme));
  for (const auto& each : scheme->requirements)
    text += fmt::format(" {}", static_cast<int>(each.operands));
  return fmt::format("{} {} {}", text, scheme->numbers.size(), scheme->variables.size());
}

}  // namespace relay::server
