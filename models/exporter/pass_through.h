#pragma once

#include <optional>
#include <vector>

#include "lang/op.h"
#include "models/exporter/value.h"

// What is known of operators beside the nodes that they become.
namespace relay::models::exporter {

// Is its value that of its first operand? Such are marks of other passes, and checks of extents.
bool is_passed_through(const lang::OpDef& op);

// The operator that does to each element what a primitive does; null if there is none.
const lang::OpDef* operator_of(lang::Prim prim);

// The sum, difference or product as a formula of an index, where it is one.
std::optional<Affine> affine_of(const lang::OpDef& op, const std::vector<Value>& args);

}  // namespace relay::models::exporter
