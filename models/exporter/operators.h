#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/exporter/call.h"

namespace relay::models::exporter {

// What is known of an operator of Relay: how nodes are made of a call of it.
struct Operator {
  std::string_view name;
  Value (*build)(Call& call);  // throws Failure, to which the place is added
  std::string_view nodes;      // what becomes of it, for the documentation: "`Sqrt`, `Reciprocal`"
  std::string_view doc = {};   // what there is to say of it; may be empty
  // It works element by element: the operands may have lanes, which are brought to match.
  bool is_elementwise = false;
};

// All of them, by name. The families have a file each.
const std::vector<const Operator*>& operators();
const Operator* find_operator(std::string_view name);

std::span<const Operator> elementwise_operators();
std::span<const Operator> product_operators();
std::span<const Operator> window_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> reduce_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> join_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> making_operators();

}  // namespace relay::models::exporter
