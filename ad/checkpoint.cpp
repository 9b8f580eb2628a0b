#include "ad/checkpoint.h"

#include "ad/tangent.h"
#include "lang/build.h"
#include "lang/checkpoint.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

std::vector<VariableRef> variables_of(const std::vector<Type>& types) {
  std::vector<VariableRef> variables;
  for (const Type& type : types) variables.push_back(lang::make_variable("x", type));
  return variables;
}

void add(lang::Program& program, const std::string& name, std::vector<VariableRef> params,
         const Expr& body, lang::AttrsRef attrs) {
  program.add_function(name, lang::rename_bound(lang::make_function(std::move(params), body->type,
                                                                    body, {}, std::move(attrs))));
}

}  // namespace

void define_checkpoint(lang::Program& program, const std::string& name, const Type& type,
                       const Pair& pair, const Pair& inner, lang::TypeDef& residual) {
  const std::vector<Type>& types = as<lang::FunctionType>(type)->params;
  const auto& backward_type = *as<lang::FunctionType>(pair.backward_type);
  const auto* kept = add_constructor(residual, residual.name + "_0", types);

  const std::vector<VariableRef> params = variables_of(types);
  const Expr saved = construct(kept, uses_of(params), backward_type.params[0]);
  const Expr forward =
      build::let("result", call_global(name, type, uses_of(params)), [&](const Expr& result) {
        return build::tuple({result, saved});
      });
  add(program, pair.forward, params, forward, nullptr);

  const std::vector<VariableRef> again = variables_of(types);
  const std::vector<VariableRef> given = variables_of(backward_type.params);
  const Expr both = call_global(inner.forward, inner.forward_type, uses_of(again));
  const Expr clause = build::let("both", both, [&](const Expr& value) {
    std::vector<Expr> args = uses_of(given);
    args[0] = build::project(value, 1);
    return call_global(inner.backward, inner.backward_type, std::move(args));
  });
  std::vector<lang::PatternRef> fields;
  for (const VariableRef& variable : again) fields.push_back(lang::variable_pattern(variable));
  const Expr backward = lang::make_match(
      lang::make_var(given[0]), {{lang::constructor_pattern(kept, std::move(fields)), clause}},
      true, {}, backward_type.result);
  add(program, pair.backward, given, backward, lang::checkpoint_attrs());
}

}  // namespace relay::ad
