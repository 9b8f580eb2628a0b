// `:forget`: a name loses what has been defined under it here.

#include <fmt/format.h>

#include "lang/op.h"
#include "repl/left_behind.h"
#include "repl/names.h"
#include "repl/session_state.h"
#include "repl/set_aside.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Origin;

namespace {

// Instances at attributes, and gradients of its own, go with a function.
std::vector<std::string> parts_of(const std::string& name, const lang::Module& module) {
  std::vector<std::string> names = {name};
  const auto add_gradient = [&](const Definition& definition) {
    const auto* function = lang::as<lang::Function>(definition.function);
    if (const auto* gradient = function ? lang::gradient_of(*function) : nullptr)
      names.push_back(*gradient);
  };
  for (const Definition* each : module.definitions()) {
    if (each->name != name && each->instance_of != name) continue;
    if (each->name != name) names.push_back(each->name);
    add_gradient(*each);
  }
  return names;
}

// Types of the prelude whose names, or constructors, are free again.
bool restore_types(lang::Module& module, const lang::Module& prelude) {
  bool found = false;
  for (const lang::TypeDef* type : prelude.types()) {
    const lang::TypeDef* now = module.find_type(type->name);
    if (now && now->origin == Origin::Own) continue;
    bool is_whole = now != nullptr;
    for (const lang::Constructor& each : type->constructors)
      is_whole = is_whole && module.find_constructor(each.name);
    if (is_whole) continue;
    module.define(lang::TypeDefRef(const_cast<lang::TypeDef*>(type)));
    found = true;
  }
  return found;
}

}  // namespace

void Session::Impl::remove(const std::string& name) {
  module.remove(name);
  pipeline.remove_value(name);
  forget(name);
}

std::string Session::Impl::take_back(const std::string& name) {
  const Definition* definition = module.find(name);
  const lang::TypeDef* type = module.find_type(name);
  const bool is_own =
      (definition && definition->origin == Origin::Own) || (type && type->origin == Origin::Own);
  if (!is_own) {
    if (!module.lookup(name) && !type && !find_operator(name)) unknown_name(name, module);
    lang::fail(DiagnosticKind::BadCommand, fmt::format("`{}` has not been defined here", name));
  }
  for (const std::string& each : parts_of(name, module)) remove(each);
  hidden.erase(name);
  const bool is_function_again = bring_back(name, module, prelude);
  if (is_function_again) forget(name);
  const bool is_type_again = restore_types(module, prelude);
  auto stale = stale_definitions({{name, {}}}, module, checker);
  for (Diagnostic& each : stale) {
    std::erase_if(each.labels, [](const lang::Label& label) { return !label.span; });
    if (options.warn) options.warn({each});
  }
  if (is_function_again) return fmt::format("`{}` is the function of the prelude again\n", name);
  if (const lang::OpDef* op = lang::OpRegistry::instance().find(name); op && !op->is_step)
    return fmt::format("`{}` is the operator again\n", name);
  return fmt::format("`{}` {}\n", name,
                     is_type_again && module.find_type(name) ? "is the type of the prelude again"
                                                             : "is forgotten");
}

lang::Result<std::string> Session::forget(const std::string& name) {
  return impl_->entry_guarded([&] { return impl_->take_back(name); });
}

}  // namespace relay::repl
