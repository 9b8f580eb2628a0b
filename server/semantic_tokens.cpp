#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dtype.h"
#include "parser/tokens.h"
#include "server/features.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;
using parser::TokenKind;

namespace {

// In the order of the legend.
enum class Face : unsigned {
  Keyword,
  Comment,
  String,
  Number,
  Operator,
  Function,
  Variable,
  Parameter,
  Property,
  Type,
  TypeParameter,
  EnumMember
};
constexpr std::array<std::string_view, 12> kFaces = {
    "keyword",  "comment",   "string",   "number", "operator",      "function",
    "variable", "parameter", "property", "type",   "typeParameter", "enumMember"};
constexpr unsigned kDeclaration = 1;  // bits, in the order of the legend
constexpr unsigned kDefaultLibrary = 2;

struct Seen {
  Face face;
  unsigned modifiers = 0;
};

Seen seen_as(const Analysis& analysis, const Occurrence& occurrence) {
  const unsigned modifiers = occurrence.is_definition ? kDeclaration : 0U;
  switch (occurrence.kind) {
    case NameKind::Local:
      return {Face::Variable, modifiers};
    case NameKind::TypeVariable:
      return {Face::TypeParameter, modifiers};
    case NameKind::Global: {
      const lang::Definition* definition = analysis.module().lookup(occurrence.name);
      const bool is_library = definition && definition->origin == lang::Origin::Prelude;
      return {definition && !definition->function ? Face::Variable : Face::Function,
              modifiers | (is_library ? kDefaultLibrary : 0U)};
    }
    case NameKind::Type:
      return {Face::Type, modifiers};
    case NameKind::Constructor:
      return {Face::EnumMember, modifiers};
    case NameKind::Field:
      return {Face::Property, modifiers};
    case NameKind::Parameter:
      return {Face::Parameter, modifiers};
    case NameKind::Operator:
      return {Face::Function, modifiers | kDefaultLibrary};
  }
  return {Face::Variable, modifiers};
}

std::optional<Seen> seen_as(const parser::Token& token, std::string_view text) {
  switch (token.kind) {
    case TokenKind::Keyword:
      return Seen{Face::Keyword};
    case TokenKind::Number:
      return Seen{Face::Number};
    case TokenKind::String:
      return Seen{Face::String};
    case TokenKind::Comment:
      return Seen{Face::Comment};
    case TokenKind::Operator:
      return Seen{Face::Operator};
    case TokenKind::Name:
      if (text == "Tensor" || lang::parse_dtype(text)) return Seen{Face::Type, kDefaultLibrary};
      break;
    case TokenKind::Open:
    case TokenKind::Close:
      break;
  }
  return std::nullopt;
}

// The numbers of the protocol: each token by its distance from the one before.
class Encoder {
 public:
  Encoder(const Document& document) : text_(document.text()), lines_(document.lines()) {}

  // A token over several lines becomes one on each.
  void add(std::size_t begin, std::size_t end, const Seen& seen) {
    while (begin < end) {
      const std::size_t line = lines_.line_of(begin);
      std::size_t stop = line + 1 < lines_.count() ? std::min(lines_.begin_of(line + 1), end) : end;
      const std::size_t next = stop;
      while (stop > begin && (text_[stop - 1] == '\n' || text_[stop - 1] == '\r')) --stop;
      if (stop > begin) add_on_line(line, begin, stop, seen);
      begin = next;
    }
  }

  Json take() { return std::move(data_); }

 private:
  void add_on_line(std::size_t line, std::size_t begin, std::size_t end, const Seen& seen) {
    const std::string_view text = text_;
    const std::size_t character = lines_.character(text, line, begin);
    const std::size_t from = line == line_ ? character_ : 0;
    data_.insert(data_.end(),
                 {line - line_, character - from, utf16_length(text.substr(begin, end - begin)),
                  static_cast<unsigned>(seen.face), seen.modifiers});
    line_ = line;
    character_ = character;
  }

  const std::string& text_;
  const Lines& lines_;
  Json data_ = Json::array();
  std::size_t line_ = 0;
  std::size_t character_ = 0;
};

}  // namespace

Json semantic_legend() {
  return {{"tokenTypes", kFaces}, {"tokenModifiers", {"declaration", "defaultLibrary"}}};
}

Json semantic_tokens(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  const std::string& text = document.text();
  std::size_t begin = 0;
  std::size_t end = text.size();
  if (params.contains("range")) {
    begin = document.lines().offset(text, member(params["range"], "start"));
    end = document.lines().offset(text, member(params["range"], "end"));
  }
  const parser::Occurrences& names = analysis.occurrences();
  auto name = names.begin();
  Encoder encoder(document);
  for (const parser::Token& token : parser::tokens_of(text)) {
    while (name != names.end() && name->span.end <= token.begin) ++name;
    if (token.end <= begin || token.begin >= end) continue;
    const bool is_named = name != names.end() && name->span.begin <= token.begin &&
                          token.end <= name->span.end && token.kind != TokenKind::Comment;
    const std::string_view word =
        std::string_view(text).substr(token.begin, token.end - token.begin);
    const std::optional<Seen> seen =
        is_named ? std::optional(seen_as(analysis, *name)) : seen_as(token, word);
    if (seen) encoder.add(token.begin, token.end, *seen);
  }
  return {{"data", encoder.take()}};
}

}  // namespace relay::server
