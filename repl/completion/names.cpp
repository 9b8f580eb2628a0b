#include "repl/completion/names.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace relay::repl::completion {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_in_any_case(std::string_view name, std::string_view typed) {
  if (typed.size() > name.size()) return false;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    if (lower(name[i]) != lower(typed[i])) return false;
  }
  return true;
}

// The first of them begins the name, or a part of it behind a dot or `_`.
bool has_letters_in_order(std::string_view name, std::string_view typed) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < name.size() && found < typed.size(); ++i) {
    const bool begins_part = i == 0 || name[i - 1] == '.' || name[i - 1] == '_';
    if ((found > 0 || begins_part) && lower(name[i]) == lower(typed[found])) ++found;
  }
  return found == typed.size();
}

std::string_view last_part(std::string_view name) {
  if (!name.empty() && name.back() == '.') return name;
  return name.substr(name.rfind('.') + 1);
}

// A match by letters alone is offered only where there is none better.
int tier(Match match) {
  switch (match) {
    case Match::Prefix:
    case Match::LastPart:
      return 0;
    case Match::AnyCase:
      return 1;
    case Match::Scattered:
      return 2;
    case Match::None:
      break;
  }
  return 3;
}

}  // namespace

Match match(std::string_view typed, std::string_view name) {
  if (name.starts_with(typed)) return Match::Prefix;
  const std::string_view last = last_part(name);
  if (last.starts_with(typed)) return Match::LastPart;
  if (begins_in_any_case(name, typed) || begins_in_any_case(last, typed)) return Match::AnyCase;
  return has_letters_in_order(name, typed) ? Match::Scattered : Match::None;
}

std::vector<Name> matching(std::vector<Name> names, std::string_view typed) {
  std::vector<std::pair<Match, Name*>> found;
  found.reserve(names.size());
  int best = tier(Match::None);
  std::unordered_set<std::string_view> seen;
  for (Name& name : names) {
    const Match kind = match(typed, name.text);
    if (tier(kind) > best || kind == Match::None || !seen.insert(name.text).second) continue;
    best = tier(kind);
    found.emplace_back(kind, &name);
  }
  std::erase_if(found, [&](const auto& each) { return tier(each.first) != best; });
  const auto key = [](const std::pair<Match, Name*>& each) {
    return std::tuple(!each.second->fits, each.second->group, each.first,
                      std::string_view(each.second->text));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<Name> sorted;
  sorted.reserve(found.size());
  for (const auto& [kind, name] : found) sorted.push_back(std::move(*name));
  return sorted;
}

}  // namespace relay::repl::completion
