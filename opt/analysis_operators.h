#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "lang/expr.h"

// Private to the analyses that count operators.
namespace relay::opt {

// How often each is called, or used as a value, by name; primitives of the light notation count as
// the operators that they are written as.
std::map<std::string, std::size_t> operators_in(const lang::Expr& root);

}  // namespace relay::opt
