#include "repl/names.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "repl/doc_forms.h"

namespace relay::repl {

using lang::OpDef;

std::vector<const OpDef*> operators_ending_in(std::string_view name) {
  const std::string ending = fmt::format(".{}", name);
  std::vector<const OpDef*> found;
  for (const OpDef* op : lang::OpRegistry::instance().all()) {
    if (op->name.ends_with(ending) && !op->is_step) found.push_back(op);
  }
  std::sort(found.begin(), found.end(), [](const OpDef* a, const OpDef* b) {
    return std::pair(a->name.size(), a->name) < std::pair(b->name.size(), b->name);
  });
  return found;
}

const OpDef* find_operator(std::string_view name) {
  if (const OpDef* op = lang::OpRegistry::instance().find(name)) return op;
  const auto found = operators_ending_in(name);
  return found.empty() ? nullptr : found.front();
}

void unknown_name(const std::string& name, const lang::Module& module) {
  std::vector<std::string> names;
  for (const OpDef* op : lang::OpRegistry::instance().all()) names.push_back(op->name);
  for (std::string& form : form_names()) names.push_back(std::move(form));
  for (const lang::Definition* each : module.definitions()) names.push_back(each->name);
  lang::Diagnostic diagnostic(lang::DiagnosticKind::UnknownName,
                              fmt::format("nothing is called `{}`", name));
  if (const auto close = lang::closest_names(name, names); !close.empty())
    diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
  throw lang::Failure(std::move(diagnostic));
}

}  // namespace relay::repl
