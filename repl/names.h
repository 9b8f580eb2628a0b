#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/module.h"
#include "lang/op.h"

// What there is under a name, for commands that are asked about names.
namespace relay::repl {

// The operator of that name, else the plain one of those whose names end with it: `nn.softmax`, and
// not `qnn.softmax`, for `softmax`; null if there is none.
const lang::OpDef* find_operator(std::string_view name);
// All whose names end with `.NAME`, the plain one first.
std::vector<const lang::OpDef*> operators_ending_in(std::string_view name);

// Throws Failure(UnknownName), with the nearest name of an operator, a form or a definition.
[[noreturn]] void unknown_name(const std::string& name, const lang::Module& module);

}  // namespace relay::repl
