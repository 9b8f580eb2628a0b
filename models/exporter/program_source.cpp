#include "models/exporter/program_source.h"

#include <fmt/format.h>

#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "repl/named_function.h"

namespace relay::models::exporter {

ProgramSource::ProgramSource(repl::Session& session)
    : session_(session), checker_(session.module()) {}

lang::Expr ProgramSource::function(const std::string& name, const std::string& path) {
  const lang::Definition& definition = repl::named_function(session_, name, path);
  return checker_.specialise(definition.name, repl::told_type(session_, definition)).or_throw();
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
