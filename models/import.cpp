#include "models/import.h"

#include <string>

#include "formats/bytes.h"
#include "models/nnvm/import_symbol.h"
#include "models/onnx/onnx.h"

namespace relay::models {

namespace {

constexpr std::size_t kHead = 4096;

std::string head_of(const std::string& path) {
  formats::FileReader reader({.path = path});
  reader.require_regular("a model");
  std::string head(kHead, '\0');
  std::size_t size = 0;
  while (size < kHead) {
    const std::size_t some =
        reader.read_some(std::as_writable_bytes(std::span(head)).subspan(size));
    if (some == 0) break;
    size += some;
  }
  head.resize(size);
  return head;
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"NNVM, MXNet", &nnvm::recognises_symbol, &nnvm::import_symbol},
      {"ONNX", [](std::string_view) { return true; }, &onnx::import},
  };
  return all;
}

lang::Result<Program> import_model(const Request& request) {
  return lang::capture([&]() -> Program {
    const std::string head = head_of(request.path);
    for (const Format& each : formats()) {
      if (each.recognises(head)) return each.import(request).or_throw();
    }
    lang::fail(lang::DiagnosticKind::BadData,
               request.path + ": no model of a format that is known");
  });
}

}  // namespace relay::models
