#include "repl/explain.h"

#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "lang/op.h"

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

// A line of an example as the prompt would show it: what the tests expect in comments is output.
std::string example_line(std::string_view line) {
  constexpr std::string_view kError = "// expect-error ";
  constexpr std::string_view kMore = "// |";
  constexpr std::string_view kOutput = "// expect: ";
  if (line.starts_with(kError)) {
    line.remove_prefix(kError.size());
    line.remove_prefix(std::min(line.find(' ') + 1, line.size()));  // the place
    const std::size_t colon = line.find(':');
    return fmt::format("error[{}]{}", line.substr(0, colon), line.substr(colon));
  }
  if (line.starts_with(kMore)) {
    line.remove_prefix(kMore.size());
    return std::string(line.substr(line.starts_with(' ') ? 1 : 0));
  }
  if (line.starts_with(kOutput)) return std::string(line.substr(kOutput.size()));
  return std::string(line);
}

std::string for_terminal(std::string_view section) {
  std::string out;
  bool in_example = false;
  while (!section.empty()) {
    const std::string_view line = next_line(section);
    if (line.starts_with("```")) {
      in_example = !in_example;
    } else if (in_example && !line.empty()) {
      out += "    " + example_line(line) + '\n';
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
