#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

namespace {

constexpr std::string_view kIntroduction = R"page(# ONNX: the operators

[Importing models](importing.md) tells how a model becomes a program. These are the {} operators of ONNX that `relay import` knows, in
the forms that opsets {} to {} give them. *Known* is what the file says: a weight, a constant, or what is computed of these and of
extents. What is missing is named when a model is imported, all of it at once, with the node that needs it.

This page is made of the table that the program reads, by `./dev docs`.

| operator | what there is to say of it |
| --- | --- |
)page";

}  // namespace

std::string page_on_imports() {
  namespace onnx = models::onnx;
  std::string text =
      fmt::format(kIntroduction, onnx::operators().size(), onnx::kFirstOpset, onnx::kLastOpset);
  for (const onnx::Operator* each : onnx::operators()) {
    const std::string domain = each->domain.empty() ? "" : fmt::format(" (`{}`)", each->domain);
    text += fmt::format("| `{}`{} | {} |\n", each->name, domain, each->doc);
  }
  return text;
}

}  // namespace relay::tools
