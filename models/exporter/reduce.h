#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/dtype.h"
#include "lang/primitive.h"
#include "models/exporter/graph_writer.h"

namespace relay::models::exporter {

// A tensor folded over these axes. The place of an extreme is over one axis, and int64.
std::string reduced(GraphWriter& graph, lang::ReduceOp op, std::string name, lang::DType dtype,
                    const std::vector<std::int64_t>& axes, bool keeps_axes);

}  // namespace relay::models::exporter
