#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/features.h"
#include "server/target.h"
#include "server/uri.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;

namespace {

struct Renamed {
  const Occurrence* occurrence;
  std::string key;
  std::string name;
};

// What stands at the position and may be renamed; throws RequestError.
Renamed renamed_at(Document& document, const Json& params) {
  Analysis& analysis = document.analysis();
  const std::size_t offset = document.lines().offset(document.text(), member(params, "position"));
  const Occurrence* found = analysis.occurrence_at(offset);
  if (!found) throw RequestError(ErrorCode::RequestFailed, "there is no name here");
  const std::string name(last_part(*found).text());
  if (name.empty()) throw RequestError(ErrorCode::RequestFailed, "there is no name here");
  const bool is_known_by_name = found->kind == NameKind::Field;
  if (!is_known_by_name && !target_of(analysis, *found)) {
    throw RequestError(ErrorCode::RequestFailed,
                       fmt::format("`{}` is not defined in a file, and keeps its name", name));
  }
  return {found, key_of(analysis, *found), name};
}

// A text with places to be replaced.
struct EditedText {
  std::string uri;
  std::string before;
  std::vector<std::pair<std::size_t, std::size_t>> places;

  std::string after(const std::string& name) const {
    std::string text;
    std::size_t at = 0;
    for (const auto& [begin, end] : places) {
      text += before.substr(at, begin - at) + name;
      at = end;
    }
    return text + before.substr(at);
  }
};

// What the names of a text mean to each other, whatever they are called: of each the kind, and
// which of them introduces it.
using Meanings = std::vector<std::tuple<NameKind, bool, std::size_t>>;

Meanings meanings_of(const Analysis& analysis) {
  const parser::Occurrences& names = analysis.occurrences();
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i].span.begin, i);
  Meanings meanings;
  for (const Occurrence& each : names) {
    std::size_t introduced = names.size();
    if (each.definition.source == &analysis.source()) {
      const auto found = places.find(each.definition.begin);
      if (found != places.end()) introduced = found->second;
    }
    meanings.emplace_back(each.kind, each.is_definition, introduced);
  }
  return meanings;
}

// Throws RequestError where a text means something else afterwards.
void check(Workspace& workspace, const std::map<std::string, EditedText>& edits,
           const std::string& name) {
  std::map<std::string, std::string> texts;
  for (const auto& [path, edited] : edits) texts[path] = edited.after(name);
  for (const auto& [path, edited] : edits) {
    const std::map<std::string, std::string> none;
    const auto before = workspace.try_out(path, none);
    const auto after = workspace.try_out(path, texts);
    before->update(edited.before);
    after->update(texts.at(path));
    const bool is_the_same = before->diagnostics().size() == after->diagnostics().size() &&
                             meanings_of(*before) == meanings_of(*after);
    if (is_the_same) continue;
    std::string why;
    if (after->diagnostics().size() > before->diagnostics().size())
      why = ": " + after->diagnostics().front().message;
    throw RequestError(
        ErrorCode::RequestFailed,
        fmt::format("with the name `{}` the program of `{}` would mean something else{}", name,
                    path, why));
  }
}

}  // namespace

Json prepare_rename(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const Renamed renamed = renamed_at(document, params);
  return {{"range", document.range(last_part(*renamed.occurrence))}, {"placeholder", renamed.name}};
}

Json rename(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const std::string name = string_member(params, "newName");
  const Renamed renamed = renamed_at(document, params);
  const bool has_blanks = name.find_first_of(" \t\r\n") != std::string::npos;
  if (name.empty() || has_blanks)
    throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is no name", name));
  std::map<std::string, EditedText> edits;
  Json changes = Json::object();
  workspace.for_each_text(renamed.name, [&](const Workspace::Text& text) {
    EditedText edited{text.uri, text.text, {}};
    Json list = Json::array();
    for (const Occurrence& each : text.analysis->occurrences()) {
      const lang::Span part = last_part(each);
      // Elsewhere it may have been imported under another name, which stays.
      if (part.text() != renamed.name || key_of(*text.analysis, each) != renamed.key) continue;
      edited.places.emplace_back(part.begin, part.end);
      list.push_back(
          {{"range", text.lines.range(text.text, part.begin, part.end)}, {"newText", name}});
    }
    if (list.empty()) return;
    changes[text.uri] = std::move(list);
    edits.emplace(canonical(text.analysis->path()), std::move(edited));
  });
  if (name != renamed.name) check(workspace, edits, name);
  return {{"changes", std::move(changes)}};
}

}  // namespace relay::server
