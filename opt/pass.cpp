#include "opt/pass.h"

#include <algorithm>
#include <optional>

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

namespace {

lang::AttrsRef with_option_names(const Pass& pass, const lang::AttrsRef& given) {
  if (!given) return given;
  std::vector<lang::Attr> named;
  std::size_t next = 0;
  std::optional<std::size_t> open;  // the place of one that takes all that are left
  for (const lang::Attr& attr : given->list) {
    if (!attr.key.empty()) {
      named.push_back(attr);
    } else if (open) {
      lang::AttrValue& before = named[*open].value;
      lang::AttrValue::List list =
          before.as_list() ? *before.as_list() : lang::AttrValue::List{before};
      list.push_back(attr.value);
      before = std::move(list);
    } else if (next < pass.options.size()) {
      if (pass.options[next].kind == lang::AttrKind::Any) open = named.size();
      named.push_back({pass.options[next++].name, attr.value, attr.span});
    } else {
      lang::fail(DiagnosticKind::WrongArity,
                 fmt::format("`{}` has {} option{}, and this is one more", pass.name,
                             pass.options.size(), pass.options.size() == 1 ? "" : "s"),
                 attr.span);
    }
  }
  return lang::make_attrs(std::move(named));
}

}  // namespace

PassCall pass_call(const std::string& name, const lang::AttrsRef& given, lang::Span place) {
  if (const Pass* pass = find_pass(name))
    return {pass,
            lang::complete_attrs(name, pass->options, with_option_names(*pass, given), place)};
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
