#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

void map_variable(TypeSubstitution& substitution, const TypeVar& var, const TypeVarRef& to) {
  switch (var.kind) {
    case VarKind::Type:
      substitution.types.emplace(&var, var_type(to));
      break;
    case VarKind::Shape:
      substitution.shapes.emplace(&var, Shape(to));
      break;
    case VarKind::DType:
      substitution.dtypes.emplace(&var, DTypeTerm(to));
      break;
    case VarKind::Dim:
      substitution.dims.emplace(&var, Dim::variable(to));
      break;
  }
}

void map_to_unknowns(TypeSubstitution& substitution, const std::vector<TypeVarRef>& variables,
                     Solver& solver) {
  for (const TypeVarRef& var : variables) map_variable(substitution, *var, solver.fresh(var->kind));
}

}  // namespace relay::typecheck
