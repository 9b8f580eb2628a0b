#include "models/onnx/importer.h"
#include "models/onnx/onnx.h"

namespace relay::models::onnx {

lang::Result<Program> import(const Request& request) {
  auto model = read_model(request.path);
  if (!model.ok()) return model.errors();
  return lang::capture([&] { return Importer(model.value(), request.shapes).run(); });
}

}  // namespace relay::models::onnx
