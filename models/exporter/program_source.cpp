#include "models/exporter/program_source.h"

#include <fmt/format.h>

#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "repl/derivative.h"

namespace relay::models::exporter {

ProgramSource::ProgramSource(repl::Session& session)
    : session_(session), checker_(session.module()) {}

lang::Expr ProgramSource::function(const std::string& name) {
  const lang::Definition* definition = session_.module().lookup(name);
  if (!definition || !definition->function) {
    std::vector<std::string> names;
    for (const lang::Definition* each : session_.module().definitions()) {
      if (each->function && each->origin == lang::Origin::Own) names.push_back(each->name);
    }
    lang::Diagnostic diagnostic(
        lang::DiagnosticKind::UnknownName,
        definition ? fmt::format("`{}` is a value, and what is exported is a function", name)
                   : fmt::format("there is no function `{}`", name));
    if (const auto close = lang::closest_names(name, names); !close.empty())
      diagnostic.note(fmt::format("help: did you mean `-f {}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  }
  const auto scheme = checker_.scheme(definition->name).or_throw();
  const lang::Type type =
      lang::is_ground(scheme.type)
          ? scheme.type
          : repl::at_plainest_types(lang::make_global_var(definition->name), checker_)->type;
  return checker_.specialise(definition->name, type).or_throw();
}

lang::Expr ProgramSource::code_of(const lang::GlobalVar& use) {
  const lang::Definition* definition = session_.module().lookup(use.name);
  if (!definition || !definition->function) return nullptr;
  const lang::Expr code = checker_.specialise(use.name, use.type).or_throw();
  const auto* type = lang::as<lang::FunctionType>(use.type);
  return type ? with_extents_of(code, type->params) : code;
}

const lang::Value* ProgramSource::value(const std::string& name) const {
  return session_.bound_value(name);
}

lang::Expr with_extents_of(const lang::Expr& function, const std::vector<lang::Type>& arguments) {
  const auto& own = lang::cast<lang::Function>(function);
  lang::TypeSubstitution dims;
  for (std::size_t k = 0; k < own.params.size() && k < arguments.size(); ++k) {
    if (own.params[k]->type && arguments[k])
      lang::match_dims(own.params[k]->type, arguments[k], dims);
  }
  return dims.empty() ? function : lang::substitute_types(function, dims);
}

}  // namespace relay::models::exporter
