#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/exporter/operators.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

namespace {

constexpr std::string_view kExportsIntroduction = R"page(# Exporting: the operators

[Exporting models](exporting.md) tells how a function becomes a model of ONNX. These are the {} operators that `relay export` makes nodes of.
An operator that is not here, or whose node cannot do what a call asks for, becomes the nodes of the index notation that it is made of, where
it is made of that; else it is named when a program is exported.

This page is made of the table that the program reads, by `./dev docs`.

| operator | nodes | what there is to say of it |
| --- | --- | --- |
)page";

}  // namespace

std::string page_on_exports() {
  const auto& operators = models::exporter::operators();
  std::string text = fmt::format(kExportsIntroduction, operators.size());
  for (const models::exporter::Operator* each : operators)
    text += fmt::format("| `{}` | {} | {} |\n", each->name, each->nodes, each->doc);
  return text;
}

}  // namespace relay::tools
