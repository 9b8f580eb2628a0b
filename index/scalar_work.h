#pragma once

#include <unordered_map>

#include "lang/expr.h"

namespace relay::index {

// What it takes to compute scalar code, in units of a cheap operation on scalars: by this is chosen
// between computing something again and keeping it. Of a graph, it is that of the tree.

// To write a value and read it again.
inline constexpr double kKeptWork = 8;

using ScalarWork = std::unordered_map<const lang::ExprNode*, double>;
// Of a node, whose parts are in `known`.
double scalar_work(const lang::Expr& node, const ScalarWork& known);
// Of the whole; linear in the graph.
double scalar_work(const lang::Expr& expr);

}  // namespace relay::index
