#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "server/features.h"
#include "server/uri.h"

namespace relay::server {

using lang::Diagnostic;

namespace {

// Where a text imports the file that a diagnostic is about, as the diagnostic has it: the line of
// the last note, "imported by FILE:LINE".
std::size_t importing_line(const Diagnostic& diagnostic, const std::string& path) {
  const std::string mark = fmt::format("note: imported by {}:", path);
  for (const std::string& note : diagnostic.notes) {
    if (!note.starts_with(mark)) continue;
    std::size_t line = 1;
    std::from_chars(note.data() + mark.size(), note.data() + note.size(), line);
    return std::max<std::size_t>(line, 1) - 1;
  }
  return 0;
}

Json location(const Document& document, lang::Span span, const lang::Source& source) {
  if (span.source == &source) return {{"uri", document.uri()}, {"range", document.range(span)}};
  const std::string_view text = span.source->text();
  return {{"uri", uri_of(canonical(span.source->name()))},
          {"range", Lines(text).range(text, span.begin, span.end)}};
}

bool is_in_file(lang::Span span) { return span && span.source->name().starts_with('/'); }

Json range_of(Document& document, const Diagnostic& diagnostic, const lang::Source& source) {
  const Lines& lines = document.lines();
  if (diagnostic.span.source == &source) return document.range(diagnostic.span);
  const std::size_t line = std::min(importing_line(diagnostic, document.path()), lines.count() - 1);
  const std::size_t begin = lines.begin_of(line);
  return {{"start", lines.position(document.text(), begin)},
          {"end",
           {{"line", line},
            {"character", utf16_length(source.line(static_cast<std::uint32_t>(line + 1)))}}}};
}

int severity_of(const Diagnostic& diagnostic) {
  return lang::class_of(diagnostic.kind) == lang::DiagnosticClass::kWarning ? 2 : 1;
}

}  // namespace

Json diagnostics_of(Document& document) {
  Analysis& analysis = document.analysis();
  Json list = Json::array();
  for (const Diagnostic& each : analysis.diagnostics()) {
    std::string message = each.message;
    for (const std::string& note : each.notes) message += "\n" + note;
    Json found = {{"range", range_of(document, each, analysis.source())},
                  {"severity", severity_of(each)},
                  {"code", lang::name_of(each.kind)},
                  {"source", "relay"},
                  {"message", std::move(message)}};
    Json related = Json::array();
    if (each.span.source != &analysis.source() && is_in_file(each.span))
      related.push_back(
          {{"location", location(document, each.span, analysis.source())}, {"message", "here"}});
    for (const lang::Label& label : each.labels) {
      if (label.span.source == &analysis.source() || is_in_file(label.span))
        related.push_back({{"location", location(document, label.span, analysis.source())},
                           {"message", label.text}});
    }
    if (!related.empty()) found["relatedInformation"] = std::move(related);
    list.push_back(std::move(found));
  }
  return list;
}

}  // namespace relay::server
