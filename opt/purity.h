#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::opt {

// Which functions are pure: a call gives its result, or fails, or does not end, and does nothing
// else, if the functions that it is given are pure. That is a fact of the definition, whatever its
// types are. All that a definition reaches is looked at once.
class Purity {
 public:
  // The code of a function; null for a value that holds no function and no reference; nothing where
  // it is not known (yet).
  using CodeOf = std::function<std::optional<lang::Expr>(const std::string& name)>;
  explicit Purity(CodeOf code_of) : code_of_(std::move(code_of)) {}

  bool is_pure(const std::string& name);
  // The definitions have changed.
  void forget() { known_.clear(); }

 private:
  // One definition by itself.
  struct Own {
    bool acts = false;
    std::vector<std::string> mentions;  // other globals
  };
  static Own own_of(const lang::Expr& code);

  CodeOf code_of_;
  std::unordered_map<std::string, bool> known_;
};

}  // namespace relay::opt
