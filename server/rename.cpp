#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "parser/tokens.h"
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
  bool is_of_text;  // no other one can mention it
};

constexpr std::string_view kGradientOf = ".gradient";

// `f` of `f.gradient`, which is known by the name of its function; nothing for other names.
std::optional<Occurrence> function_of_gradient(const Occurrence& occurrence) {
  const bool is_gradient = occurrence.kind == NameKind::Global &&
                           occurrence.name.ends_with(kGradientOf) &&
                           occurrence.span.text().ends_with(kGradientOf);
  if (!is_gradient) return std::nullopt;
  Occurrence function{occurrence.span, NameKind::Global, occurrence.name, {}};
  function.span.end -= static_cast<std::uint32_t>(kGradientOf.size());
  function.name.resize(function.name.size() - kGradientOf.size());
  return function;
}

// Where the occurrence has the name that changes; nothing where it does not.
std::optional<lang::Span> place_in(const Analysis& analysis, const Occurrence& occurrence,
                                   const Renamed& renamed) {
  const auto function = function_of_gradient(occurrence);
  const Occurrence& meant = function ? *function : occurrence;
  const lang::Span part = last_part(meant);
  // Elsewhere it may have been imported under another name, which stays.
  if (part.text() != renamed.name || key_of(analysis, meant) != renamed.key) return std::nullopt;
  return part;
}

// What stands at the position and may be renamed; throws RequestError.
Renamed renamed_at(Document& document, const Json& params) {
  Analysis& analysis = document.analysis();
  const std::size_t offset = document.lines().offset(document.text(), member(params, "position"));
  const Occurrence* found = analysis.occurrence_at(offset);
  if (!found) throw RequestError(ErrorCode::RequestFailed, "there is no name here");
  const std::string name(last_part(*found).text());
  if (name.empty()) throw RequestError(ErrorCode::RequestFailed, "there is no name here");
  if (function_of_gradient(*found)) {
    throw RequestError(ErrorCode::RequestFailed,
                       fmt::format("`{}` has the name of its function", found->name));
  }
  const bool is_known_by_name = found->kind == NameKind::Field;
  if (!is_known_by_name && !target_of(analysis, *found)) {
    throw RequestError(ErrorCode::RequestFailed,
                       fmt::format("`{}` is not defined in a file, and keeps its name", name));
  }
  const bool is_of_text = found->kind == NameKind::Local || found->kind == NameKind::TypeVariable;
  return {found, key_of(analysis, *found), name, is_of_text};
}

// What the names of a text mean to each other, whatever they are called: of each the kind, and
// which of them introduces it, or where else that is.
using Meanings = std::vector<std::tuple<NameKind, bool, std::size_t, std::string>>;

// The file that has what is meant; of an operator its name.
std::string home_of(const Analysis& analysis, const Occurrence& occurrence) {
  if (occurrence.kind == NameKind::Operator) return occurrence.name;
  const auto target = target_of(analysis, occurrence);
  return target ? target->path : std::string();
}

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
    meanings.emplace_back(each.kind, each.is_definition, introduced, home_of(analysis, each));
  }
  return meanings;
}

// A text with places to be replaced, and what it means before that.
struct EditedText {
  explicit EditedText(const Workspace::Text& text)
      : before(text.text),
        meanings(meanings_of(*text.analysis)),
        errors(text.analysis->diagnostics().size()) {}

  std::string before;
  Meanings meanings;
  std::size_t errors;
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

// Throws RequestError where a text means something else afterwards.
void check(Workspace& workspace, const std::map<std::string, EditedText>& edits,
           const std::string& name) {
  std::map<std::string, std::string> texts;
  for (const auto& [path, edited] : edits) texts[path] = edited.after(name);
  for (const auto& [path, edited] : edits) {
    const auto after = workspace.try_out(path, texts);
    after->update(texts.at(path));
    const bool is_the_same =
        edited.errors == after->diagnostics().size() && edited.meanings == meanings_of(*after);
    if (is_the_same) continue;
    std::string why;
    if (after->diagnostics().size() > edited.errors)
      why = ": " + after->diagnostics().front().message;
    throw RequestError(
        ErrorCode::RequestFailed,
        fmt::format("with the name `{}` the program of `{}` would mean something else{}", name,
                    path, why));
  }
}

// Not the rules of the language, which are tried out: what would stand in a text unseen.
bool may_be_name(const std::string& name) {
  const std::vector<parser::Token> tokens = parser::tokens_of(name);
  const auto is_comment = [](const parser::Token& token) {
    return token.kind == parser::TokenKind::Comment;
  };
  return !name.empty() && name.find_first_of(" \t\r\n.") == std::string::npos &&
         std::none_of(tokens.begin(), tokens.end(), is_comment);
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
  if (!may_be_name(name))
    throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is no name", name));
  std::map<std::string, EditedText> edits;
  Json changes = Json::object();
  workspace.for_each_text(renamed.name, [&](const Workspace::Text& text) {
    EditedText edited(text);
    Json list = Json::array();
    for (const Occurrence& each : text.analysis->occurrences()) {
      const auto part = place_in(*text.analysis, each, renamed);
      if (!part) continue;
      edited.places.emplace_back(part->begin, part->end);
      list.push_back(
          {{"range", text.lines.range(text.text, part->begin, part->end)}, {"newText", name}});
    }
    if (list.empty()) return;
    changes[text.uri] = std::move(list);
    edits.emplace(canonical(text.analysis->path()), std::move(edited));
  });
  if (name == renamed.name) return {{"changes", std::move(changes)}};
  // What has the new name elsewhere may mean what is renamed afterwards.
  const auto note_reader = [&](const Workspace::Text& text) {
    const bool may_see_it =
        text.analysis->has_imports() && text.text.find(name) != std::string::npos;
    if (may_see_it) edits.try_emplace(canonical(text.analysis->path()), text);
  };
  if (!renamed.is_of_text) workspace.for_each_text(name, note_reader);
  check(workspace, edits, name);
  return {{"changes", std::move(changes)}};
}

}  // namespace relay::server
