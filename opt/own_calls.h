#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "lang/expr.h"

// Private to the passes that look at functions which call themselves.
namespace relay::opt {

// The function, as its calls name it.
struct Self {
  std::string name;                          // of a global one
  const lang::Variable* variable = nullptr;  // of a local one
  bool operator()(const lang::Expr& expr) const;
};

// The call, if it is one of that function; else null.
const lang::Call* own_call(const lang::Expr& expr, const Self& is_it);

using OwnCalls = std::unordered_set<const lang::Call*>;
// All calls of the function in `body`; nothing where it is mentioned in any other way.
std::optional<OwnCalls> own_calls_in(const lang::Expr& body, const Self& is_it);

}  // namespace relay::opt
