#pragma once

#include <string>

#include "lang/dtype.h"
#include "models/exporter/graph_writer.h"

namespace relay::models::exporter {

// Elements of `a` where the condition holds, else of `b`; all three broadcast.
std::string chosen(GraphWriter& graph, const std::string& condition, const std::string& a,
                   const std::string& b, lang::DType dtype);

}  // namespace relay::models::exporter
