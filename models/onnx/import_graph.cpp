#include "models/onnx/onnx.h"

namespace relay::models::onnx {

lang::Result<Program> import(const Request& request) {
  const auto model = read_model(request.path);
  if (!model.ok()) return model.errors();
  return lang::Diagnostic(lang::DiagnosticKind::Unsupported, "not yet");
}

}  // namespace relay::models::onnx
