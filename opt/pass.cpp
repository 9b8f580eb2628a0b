#include "opt/pass.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/attr_check.h"
#include "opt/pass_files.h"

namespace relay::opt {

using lang::Diagnostic;
using lang::DiagnosticKind;

const std::vector<Pass>& passes() {
  static const std::vector<Pass> table = [] {
    std::vector<Pass> list = passes_of_files();
    std::sort(list.begin(), list.end(),
              [](const Pass& a, const Pass& b) { return a.name < b.name; });
    return list;
  }();
  return table;
}

const Pass* find_pass(const std::string& name) {
  const auto found = std::find_if(passes().begin(), passes().end(),
                                  [&](const Pass& pass) { return pass.name == name; });
  return found == passes().end() ? nullptr : &*found;
}

PassCall pass_call(const std::string& name, const lang::AttrsRef& given, lang::Span place) {
  if (const Pass* pass = find_pass(name))
    return {pass, lang::complete_attrs(name, pass->options, given, place)};
  std::vector<std::string> names;
  for (const Pass& pass : passes()) names.push_back(pass.name);
  Diagnostic diagnostic(DiagnosticKind::UnknownName, fmt::format("there is no pass `{}`", name),
                        place);
  const auto close = lang::closest_names(name, names);
  diagnostic.note(close.empty() ? "help: `:opt` and `relay opt --list` list the passes"
                                : fmt::format("help: did you mean `{}`?", close.front()));
  throw lang::Failure(std::move(diagnostic));
}

std::string pipeline_at(int level) {
  std::vector<const Pass*> chosen;
  for (const Pass& pass : passes()) {
    if (pass.pipeline_place > 0 && pass.level <= level) chosen.push_back(&pass);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Pass* a, const Pass* b) { return a->pipeline_place < b->pipeline_place; });
  std::string text;
  for (const Pass* pass : chosen) text += (text.empty() ? "" : ",") + pass->name;
  return text;
}

std::string usage_of(const Pass& pass) {
  std::string text = pass.name;
  for (const lang::AttrSpec& option : pass.options) {
    text += text == pass.name ? "(" : ", ";
    text += option.name + "=" + (option.default_value ? option.default_value->to_string() : "...");
  }
  return text + (pass.options.empty() ? "" : ")");
}

std::string describe_passes() {
  std::string text;
  for (const Pass& pass : passes()) {
    text += fmt::format("{:<36} {}\n", usage_of(pass), pass.doc);
    for (const lang::AttrSpec& option : pass.options)
      text += fmt::format("  {:<34} {}\n", option.name, option.doc);
  }
  return text;
}

}  // namespace relay::opt
