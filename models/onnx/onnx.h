#pragma once

#include "lang/diagnostic.h"
#include "models/graph.h"
#include "models/import.h"

// Models of the Open Neural Network Exchange, in its protobuf files.
namespace relay::models::onnx {

// The graph that a file holds. Sizes are checked before anything is allocated, and data in other
// files is read from the model's own folder only. Fails with FileError, FileRefused, BadData, or
// Unsupported, also where this build has no ONNX.
lang::Result<Model> read_model(const std::string& path);

// Format::import.
lang::Result<Program> import(const Request& request);

}  // namespace relay::models::onnx
