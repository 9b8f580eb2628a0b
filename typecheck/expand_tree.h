#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"
#include "lang/op.h"

namespace relay::typecheck {

// The function of a tree form for leaves of one type.
struct LeafFunction {
  lang::Type leaf;
  lang::Expr function;
};

// The types of the float tensors in a tree of that type, each once, in the order of their places.
// Data types are looked into, each once. Nothing if it is not known yet where they are.
std::optional<std::vector<lang::Type>> leaves_of(const lang::Type& tree);

// What a tree form whose types are known stands for: projections, matches and constructors, and a
// local function for each data type that holds itself. `args` are the form's own but the function.
// Trees of different constructors are a run-time error (`match?`).
lang::Expr expand_tree_form(const lang::OpDef& form, const std::vector<LeafFunction>& functions,
                            const std::vector<lang::Expr>& args, const lang::Type& type,
                            lang::Span span);

}  // namespace relay::typecheck
