#include "repl/report.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/utf8.h"
#include "repl/output.h"

namespace relay::repl {

namespace {

using Json = nlohmann::ordered_json;  // a person reads it too, in the order of the page

Json place(const lang::Source& source, std::uint32_t offset) {
  const auto at = source.position(offset);
  const std::string_view before = source.line(at.line).substr(0, at.column - 1);
  return {{"line", at.line}, {"column", lang::code_points(before) + 1}, {"offset", offset}};
}

Json span(const lang::Span& span) {
  if (!span) return nullptr;
  const auto size = static_cast<std::uint32_t>(span.source->text().size());
  const std::uint32_t end = std::min(span.end, size);
  return {{"file", span.source->name()},
          {"begin", place(*span.source, std::min(span.begin, end))},
          {"end", place(*span.source, end)}};
}

// Names of files and pieces of source may be no UTF-8; JSON must be.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

bool is_warning(lang::DiagnosticKind kind) {
  return lang::class_of(kind) == lang::DiagnosticClass::kWarning;
}

std::string_view class_name(lang::DiagnosticKind kind) {
  switch (lang::class_of(kind)) {
    case lang::DiagnosticClass::kMistake:
      return "mistake";
    case lang::DiagnosticClass::kUnsupported:
      return "unsupported";
    case lang::DiagnosticClass::kWarning:
      return "warning";
  }
  return "";
}

}  // namespace

std::string render_json(const lang::Diagnostic& diagnostic) {
  Json labels = Json::array();
  for (const lang::Label& label : diagnostic.labels) {
    if (label.span) labels.push_back({{"span", span(label.span)}, {"text", label.text}});
  }
  Json notes = Json::array();
  Json help = Json::array();
  for (std::string_view note : diagnostic.notes) {
    Json& list = note.starts_with("help: ") ? help : notes;
    if (const auto colon = note.find(": "); colon == 4) note.remove_prefix(6);  // `note`, `help`
    list.push_back(note);
  }
  return dump({{"kind", lang::name_of(diagnostic.kind)},
               {"class", class_name(diagnostic.kind)},
               {"severity", is_warning(diagnostic.kind) ? "warning" : "error"},
               {"message", diagnostic.message},
               {"span", span(diagnostic.span)},
               {"labels", std::move(labels)},
               {"notes", std::move(notes)},
               {"help", std::move(help)}});
}

void Reporter::report(const std::vector<lang::Diagnostic>& diagnostics) {
  flush_output();
  was_interrupted_ = std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& each) {
    return each.kind == lang::DiagnosticKind::Interrupted;
  });
  if (!first_ && !diagnostics.empty()) first_ = diagnostics.front().kind;
  if (format_ == ErrorFormat::Json) {
    for (const auto& diagnostic : diagnostics) put_error(render_json(diagnostic));
    return;
  }
  constexpr std::size_t kMostShown = 50;
  const std::size_t count = diagnostics.size();
  for (std::size_t i = 0; i < std::min(count, kMostShown); ++i)
    put_error(lang::render(diagnostics[i], color_));
  if (count > kMostShown) put_error(fmt::format("… and {} more\n", count - kMostShown));
  if (count < 2) return;
  const bool warns = is_warning(diagnostics.front().kind);
  put_error(fmt::format("{} {}\n", count, warns ? "warnings" : "errors"));
}

void Reporter::internal_error(std::string_view what, bool has_replay) {
  flush_output();
  if (format_ == ErrorFormat::Json) {
    put_error(dump({{"kind", "InternalError"},
                    {"class", "internal"},
                    {"severity", "error"},
                    {"message", what},
                    {"span", nullptr},
                    {"labels", Json::array()},
                    {"notes", Json::array()},
                    {"help", Json::array()}}));
    return;
  }
  put_error(fmt::format(
      "internal error: {}\nThis is a mistake in relay, not in your program. Please report "
      "it with {}.\n",
      what, has_replay ? "what `:bug` writes" : "the program that shows it"));
}

void Reporter::hint(std::string_view command) {
  if (!hints_ || !first_ || format_ == ErrorFormat::Json) return;
  hints_ = false;
  put_error(fmt::format("({} {} says more)\n", command, lang::name_of(*first_)));
}

}  // namespace relay::repl
