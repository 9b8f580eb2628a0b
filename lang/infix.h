#pragma once

#include <string_view>

namespace relay::lang {

// An infix operator of the light notation; all are left-associative.
struct Infix {
  std::string_view symbol;
  int precedence;  // tighter is more
  std::string_view op;
};

// Null if there is none. Strict text has those of them that Relay has, as scan_infix says.
const Infix* find_infix(std::string_view symbol);
// The infix operator that stands for an operator.
const Infix* infix_of(std::string_view op);

}  // namespace relay::lang
