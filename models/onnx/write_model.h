#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/diagnostic.h"
#include "lang/dtype.h"
#include "models/graph.h"

namespace relay::models::onnx {

// Does this build know ONNX's definitions? The error that says what to install is that of
// write_model.
bool has_onnx();

// ONNX's number for a dtype, as the attribute `to` of its `Cast` has it.
std::int64_t number_of(lang::DType dtype);

// The file that holds a model, in IR version 8. Fails with Unsupported where this build has no
// ONNX, and for a model of more than 2 GB, which no one file holds.
lang::Result<std::string> write_model(const Model& model);

}  // namespace relay::models::onnx
