#include "repl/users.h"

#include <set>

#include "typecheck/components.h"

namespace relay::repl {

using lang::Definition;

Users::Users(const lang::Module& module)
    : Users(module, [](const Definition& each) { return each.origin == lang::Origin::Own; }) {}

Users::Users(const lang::Module& module, const IsCounted& is_counted) {
  for (const Definition* each : module.definitions()) {
    if (!each->function || !is_counted(*each)) continue;
    for (const std::string& name : typecheck::globals_of(each->function))
      direct_[name].push_back(each);
  }
}

std::vector<const Definition*> Users::direct(const std::string& name) const {
  const auto found = direct_.find(name);
  if (found == direct_.end()) return {};
  std::vector<const Definition*> users = found->second;
  std::erase_if(users, [&](const Definition* each) { return each->name == name; });
  return users;
}

std::vector<const Definition*> Users::of(const std::string& name) const {
  std::vector<const Definition*> found;
  std::set<std::string> seen = {name};
  std::vector<std::string> work = {name};
  while (!work.empty()) {
    const auto users = direct_.find(work.back());
    work.pop_back();
    if (users == direct_.end()) continue;
    for (const Definition* each : users->second) {
      if (!seen.insert(each->name).second) continue;
      found.push_back(each);
      work.push_back(each->name);
    }
  }
  return found;
}

}  // namespace relay::repl
