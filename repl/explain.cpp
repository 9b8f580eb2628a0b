#include "repl/explain.h"

#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "lang/op.h"
#include "repl/doc_forms.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// Takes the first line off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t stop = text.find('\n');
  const std::string_view line = text.substr(0, stop);
  text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
  return line;
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  }
  return true;
}

std::string for_terminal(std::string_view section) {
  std::string out;
  bool in_example = false;
  while (!section.empty()) {
    const std::string_view line = next_line(section);
    if (line.starts_with("```")) {
      in_example = !in_example;
    } else if (in_example && !line.empty()) {
      out += "    " + shown_line(line) + '\n';
    } else {
      out += std::string(line) + '\n';
    }
  }
  return out;
}

}  // namespace

std::string_view section_of(std::string_view page, std::string_view name) {
  const char* begin = nullptr;
  bool in_example = false;
  while (!page.empty()) {
    const std::string_view line = next_line(page);
    if (line.starts_with("```")) in_example = !in_example;
    if (in_example || !(line.starts_with("## ") || line.starts_with("### "))) continue;
    if (begin) return {begin, static_cast<std::size_t>(line.data() - begin)};
    if (line.starts_with("### ") && line.substr(4) == name) begin = page.data();
  }
  return begin ? std::string_view(begin, static_cast<std::size_t>(page.data() - begin))
               : std::string_view();
}

lang::Result<std::string> explain(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lang::kDiagnosticKindCount; ++i) {
    const std::string_view kind = name_of(static_cast<DiagnosticKind>(i));
    names.emplace_back(kind);
    if (!equal_but_for_case(kind, name)) continue;
    const std::string_view section = section_of(embedded_pages().front().text, kind);
    return fmt::format("{}\n{}", kind,
                       for_terminal(section.substr(0, section.find_last_not_of('\n') + 2)));
  }
  Diagnostic diagnostic(DiagnosticKind::BadCommand,
                        fmt::format("no diagnostic is called `{}`", name));
  if (const auto close = lang::closest_names(name, names); !close.empty()) {
    diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
  } else {
    diagnostic.note(fmt::format("note: there are {}", fmt::join(names, ", ")));
  }
  return diagnostic;
}

}  // namespace relay::repl
