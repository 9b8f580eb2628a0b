#include "repl/named_function.h"

#include <fmt/format.h>

#include "lang/op.h"
#include "repl/let_function.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

std::vector<std::string> own_functions(const lang::Module& module) {
  std::vector<std::string> names;
  for (const lang::Definition* definition : module.definitions()) {
    if (definition->origin == lang::Origin::Own && definition->function &&
        definition->instance_of.empty() && owner_of_gradient(module, definition->name).empty())
      names.push_back(definition->name);
  }
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

Diagnostic no_such_function(const lang::Module& module, const std::string& name,
                            const std::string& path) {
  Diagnostic diagnostic(DiagnosticKind::UnknownName,
                        fmt::format("there is no function `{}` in `{}`", name, path));
  const std::vector<std::string> names = own_functions(module);
  const auto close = lang::closest_names(name, names);
  if (!close.empty()) {
    diagnostic.note(fmt::format("help: did you mean `-f {}`?", close.front()));
  } else if (!names.empty()) {
    diagnostic.note("note: it has " + list_of(names));
  }
  return diagnostic;
}

const lang::Definition& named_function(Session& session, const std::string& name,
                                       const std::string& path) {
  const lang::Definition* const found = session.module().lookup(name);
  if (found && found->function) return *found;
  if (!found) throw lang::Failure(no_such_function(session.module(), name, path));
  throw lang::Failure(Diagnostic(DiagnosticKind::NotAFunction,
                                 fmt::format("`{}` is a value, and no function", name),
                                 found->span));
}

lang::Type told_type(Session& session, const lang::Definition& definition) {
  const lang::Expr expr = session.read("<function>", definition.name).or_throw();
  const Session::Typed typed = session.evaluate_typed(expr).or_throw();
  if (lang::is_ground(typed.type)) return typed.type;
  Diagnostic error(DiagnosticKind::AmbiguousType,
                   fmt::format("the types of `{}` are open: `{}`", definition.name, typed.scheme),
                   definition.span);
  error.note("help: write the types of its parameters, as in `x: Tensor[(n, 4), float32]`");
  throw lang::Failure(std::move(error));
}

}  // namespace relay::repl
