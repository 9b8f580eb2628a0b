#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "server/features.h"
#include "server/target.h"
#include "server/uri.h"

namespace relay::server {

using parser::Occurrence;

namespace {

const Occurrence* occurrence_at(Document& document, const Json& params) {
  Analysis& analysis = document.analysis();
  const std::size_t offset = document.lines().offset(document.text(), member(params, "position"));
  return analysis.occurrence_at(offset);
}

// The beginning of the file that is imported where the position is; null where none is.
Json imported_file(Workspace& workspace, Document& document, const Json& params) {
  const std::size_t offset = document.lines().offset(document.text(), member(params, "position"));
  for (const parser::Item& item : document.analysis().items()) {
    const bool is_here = item.span.begin <= offset && offset <= item.span.end;
    if (item.kind != parser::ItemKind::Import || !is_here) continue;
    const auto path = std::filesystem::path(document.path()).parent_path() / item.name;
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) return nullptr;
    const Json begin = {{"line", 0}, {"character", 0}};
    return {{"uri", workspace.uri_for(canonical(path.string()))},
            {"range", {{"start", begin}, {"end", begin}}}};
  }
  return nullptr;
}

}  // namespace

Json definition(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const Occurrence* found = occurrence_at(document, params);
  if (!found) return imported_file(workspace, document, params);
  const auto target = target_of(document.analysis(), *found);
  if (!target) return nullptr;
  const auto text = workspace.text_of(target->path);
  if (!text) return nullptr;
  return {{"uri", workspace.uri_for(target->path)},
          {"range", Lines(*text).range(*text, target->begin, target->end)}};
}

Json references(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const Occurrence* found = occurrence_at(document, params);
  if (!found) return nullptr;
  const std::string key = key_of(document.analysis(), *found);
  const std::string name(last_part(*found).text());
  const Json context = params.value("context", Json::object());
  const bool with_definition =
      !context.is_object() || context.value("includeDeclaration", Json(true)) != false;
  Json list = Json::array();
  workspace.for_each_text(name, [&](const Workspace::Text& text) {
    for (const Occurrence& each : text.analysis->occurrences()) {
      if (each.is_definition && !with_definition) continue;
      if (key_of(*text.analysis, each) != key) continue;
      const lang::Span part = last_part(each);
      list.push_back(
          {{"uri", text.uri}, {"range", text.lines.range(text.text, part.begin, part.end)}});
    }
  });
  return list;
}

Json document_highlight(Workspace& workspace, const Json& params) {
  constexpr int kRead = 2;
  constexpr int kWrite = 3;
  Document& document = workspace.document(params);
  const Occurrence* found = occurrence_at(document, params);
  if (!found) return nullptr;
  Analysis& analysis = document.analysis();
  const std::string key = key_of(analysis, *found);
  Json list = Json::array();
  for (const Occurrence& each : analysis.occurrences()) {
    if (key_of(analysis, each) != key) continue;
    list.push_back({{"range", document.range(last_part(each))},
                    {"kind", each.is_definition ? kWrite : kRead}});
  }
  return list;
}

}  // namespace relay::server
