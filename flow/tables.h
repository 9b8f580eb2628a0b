#pragma once

#include <vector>

#include "lang/expr.h"

namespace relay::flow {

// The types of what a function takes, as its slots hold it: those of `taken`, its parameters and,
// of a local function, what it captures. A small tensor that goes round unchanged wherever the
// function calls itself, and is read at indices that are known only when it runs, is a table: it is
// one object, of unknown extents, and not spread, as each call would hand all elements on and each
// read would choose one of them. What calls itself calls the global `name` or the variable `self`,
// which may be null. Cost: linear in the source.
std::vector<lang::Type> slot_types(const lang::Function& source,
                                   const std::vector<lang::VariableRef>& taken,
                                   const std::string& name, const lang::Variable* self);

}  // namespace relay::flow
