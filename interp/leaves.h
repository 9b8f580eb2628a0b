#pragma once

#include <cstddef>
#include <vector>

#include "lang/value.h"

// Values as the tensors that they are made of, in order.
namespace relay::interp {

// The fields of tuples one behind another, as they lie in memory.
void append_leaves(const lang::Value& value, std::vector<lang::TensorRef>& leaves);
// The value of that type whose tensors begin at `next`, which is then behind them; takes them.
lang::Value value_of_leaves(const lang::Type& type, std::vector<lang::TensorRef>& leaves,
                            std::size_t& next);

}  // namespace relay::interp
