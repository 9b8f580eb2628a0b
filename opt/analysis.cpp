#include "opt/analysis.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/op.h"
#include "opt/analysis_files.h"

namespace relay::opt {

const std::vector<Analysis>& analyses() {
  static const std::vector<Analysis> table = [] {
    std::vector<Analysis> list = analyses_of_files();
    std::sort(list.begin(), list.end(),
              [](const Analysis& a, const Analysis& b) { return a.name < b.name; });
    return list;
  }();
  return table;
}

const Analysis& analysis_called(const std::string& name, lang::Span place) {
  std::vector<std::string> names;
  for (const Analysis& analysis : analyses()) {
    if (analysis.name == name) return analysis;
    names.push_back(analysis.name);
  }
  lang::Diagnostic diagnostic(lang::DiagnosticKind::UnknownName,
                              fmt::format("there is no analysis `{}`", name), place);
  const auto close = lang::closest_names(name, names);
  diagnostic.note(close.empty() ? "help: `:analyze` and `relay opt --analyses` list them"
                                : fmt::format("help: did you mean `{}`?", close.front()));
  throw lang::Failure(std::move(diagnostic));
}

std::string describe_analyses() {
  std::string text;
  for (const Analysis& analysis : analyses())
    text += fmt::format("{:<36} {}\n", analysis.name, analysis.doc);
  return text;
}

}  // namespace relay::opt
