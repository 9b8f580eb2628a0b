#include <string>
#include <vector>

#include <fmt/format.h>

#include "server/features.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;

namespace {

enum class SymbolKind : int {
  Field = 8,
  Function = 12,
  Variable = 13,
  EnumMember = 22,
  Struct = 23
};

struct Symbol {
  const Occurrence* name;
  SymbolKind kind;
};

Json symbol_of(Document& document, const Occurrence& name, SymbolKind kind, lang::Span whole) {
  return {{"name", std::string(name.span.text())},
          {"kind", static_cast<int>(kind)},
          {"range", document.range(whole)},
          {"selectionRange", document.range(name.span)},
          {"children", Json::array()}};
}

}  // namespace

// The definitions of the text; of a type also its constructors and fields. Items with errors are
// there by their names alone.
Json document_symbols(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  Json list = Json::array();
  const auto item_around = [&](const Occurrence& name) -> const parser::Item* {
    for (const parser::Item& item : analysis.items()) {
      const bool is_around = item.span.begin <= name.span.begin && name.span.end <= item.span.end;
      if (is_around && item.instance_of.empty()) return &item;
    }
    return nullptr;
  };
  for (const Occurrence& each : analysis.occurrences()) {
    if (!each.is_definition) continue;
    const parser::Item* item = item_around(each);
    const lang::Span whole = item ? item->span : each.span;
    switch (each.kind) {
      case NameKind::Global: {
        const bool is_function = item && item->kind == parser::ItemKind::Def;
        list.push_back(symbol_of(document, each,
                                 is_function ? SymbolKind::Function : SymbolKind::Variable, whole));
        break;
      }
      case NameKind::Type:
        list.push_back(symbol_of(document, each, SymbolKind::Struct, whole));
        break;
      case NameKind::Constructor:
      case NameKind::Field: {
        if (list.empty()) break;
        const bool is_field = each.kind == NameKind::Field;
        list.back()["children"].push_back(symbol_of(
            document, each, is_field ? SymbolKind::Field : SymbolKind::EnumMember, each.span));
        break;
      }
      default:
        break;
    }
  }
  return list;
}

}  // namespace relay::server
