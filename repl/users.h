#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/module.h"

namespace relay::repl {

// Which functions mention a name, in order of definition. Cost: a walk over all that are counted.
class Users {
 public:
  using IsCounted = std::function<bool(const lang::Definition&)>;
  // Among the functions that are defined here.
  explicit Users(const lang::Module& module);
  Users(const lang::Module& module, const IsCounted& is_counted);

  // Not itself.
  std::vector<const lang::Definition*> direct(const std::string& name) const;
  // Also by way of others.
  std::vector<const lang::Definition*> of(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::vector<const lang::Definition*>> direct_;
};

}  // namespace relay::repl
