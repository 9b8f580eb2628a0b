#pragma once

#include <optional>
#include <string>

#include "lang/op.h"

namespace relay::lang {

// Where an operand of an infix operator is a record or a tuple of float tensors, and the other one
// is a number or the same type: how `tree_map` goes through it, as a help. Nothing for other calls.
std::optional<std::string> mend_by_tree_map(const TypeCall& call);

}  // namespace relay::lang
