#include "server/target.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/uri.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;

namespace {

bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The place of a name in the text that binds it, `let (a, b) = …`.
lang::Span name_in(lang::Span text, std::string_view name) {
  const std::string_view whole = text.text();
  for (std::size_t at = whole.find(name); at != std::string_view::npos;
       at = whole.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_whole = (at == 0 || !is_name_character(whole[at - 1])) &&
                          (end == whole.size() || !is_name_character(whole[end]));
    if (!is_whole) continue;
    const auto begin = text.begin + static_cast<std::uint32_t>(at);
    return {text.source, begin, begin + static_cast<std::uint32_t>(name.size())};
  }
  return {};
}

lang::Span span_of_global(const Analysis& analysis, const std::string& name) {
  const lang::Definition* definition = analysis.module().lookup(name);
  if (!definition || !definition->span) return {};
  return name_in(definition->span, std::string_view(name).substr(name.rfind('.') + 1));
}

lang::Span definition_of(const Analysis& analysis, const Occurrence& occurrence) {
  if (occurrence.definition) return occurrence.definition;
  if (occurrence.kind == NameKind::Global) return span_of_global(analysis, occurrence.name);
  return {};
}

// A name for the source of a span: the path, where it has one.
std::string file_of(const Analysis& analysis, const lang::Source& source) {
  if (&source == &analysis.source()) return analysis.canonical_path();
  return source.name().starts_with('/') ? canonical(source.name()) : source.name();
}

}  // namespace

std::optional<Target> target_of(const Analysis& analysis, const Occurrence& occurrence) {
  const lang::Span span = definition_of(analysis, occurrence);
  const bool is_open = span.source == &analysis.source();  // be it in a file or not
  if (!span || (!is_open && !span.source->name().starts_with('/'))) return std::nullopt;
  return Target{file_of(analysis, *span.source), span.begin, span.end};
}

std::string key_of(const Analysis& analysis, const Occurrence& occurrence) {
  if (occurrence.kind == NameKind::Operator) return "operator " + occurrence.name;
  if (occurrence.kind == NameKind::Field) return "field " + occurrence.name;
  const lang::Span span = definition_of(analysis, occurrence);
  if (!span) return fmt::format("{} {}", static_cast<int>(occurrence.kind), occurrence.name);
  // Of a dotted name only the last part is known elsewhere.
  return fmt::format("{}:{}", file_of(analysis, *span.source), span.end);
}

lang::Span last_part(const Occurrence& occurrence) {
  const std::string_view text = occurrence.span.text();
  std::size_t begin = text.size();
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return {occurrence.span.source, occurrence.span.begin + static_cast<std::uint32_t>(begin),
          occurrence.span.end};
}

}  // namespace relay::server
