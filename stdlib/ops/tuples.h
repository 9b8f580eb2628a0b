#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stdlib/ops/families.h"

// For operators that take a tuple of tensors.
namespace relay::stdlib {

// The fields of the tuple, which is argument 0, as tensors; nullopt while the tuple's length is
// unknown.
std::optional<std::vector<Type>> tuple_fields(TypeCall& call);
// The same where all must have one dtype.
std::optional<std::vector<Type>> tuple_of_tensors(TypeCall& call);

// Registers an operator whose inputs are tuples of tensors: the first one, or all of them.
void add_tuple_operator(lang::OpDef def, bool all = false);

// Names the fields of a tuple around `body`; index notation reads variables.
Expr with_fields(const Expr& tuple, const std::function<Expr(const std::vector<Expr>&)>& body);

}  // namespace relay::stdlib
