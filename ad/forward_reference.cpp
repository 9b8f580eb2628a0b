#include "ad/forward_block.h"
#include "ad/pairs.h"
#include "lang/diagnostic.h"

// References in forward mode: the tangent of what a reference holds stands beside it, in its
// tangent cell (ad/adjoint_cells).
namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::Type;

void ForwardBlock::reference(const Binding& binding, Emitter& code) {
  code.append({binding});
  AdjointCells& cells = pairs_.cells();
  const Expr own = lang::make_var(binding.variable);
  if (const auto* read = as<lang::RefRead>(binding.value)) {
    if (!cells.has_adjoint(read->ref->type)) return;
    RELAY_CHECK(walk_, "a reference is used outside of a walk");
    return set_tangent(binding.variable, TangentValue(cells.get(read->ref, own, walk_, code)));
  }
  const auto* write = as<lang::RefWrite>(binding.value);
  const Expr target = write ? write->ref : own;
  if (!cells.has_adjoint(target->type)) return;
  const Expr& value = write ? write->value : lang::cast<lang::RefCreate>(binding.value).value;
  const TangentValue tangent = tangent_of(value);
  if (tangent.is_zero() && !write) return;  // the cell of a new reference holds zero
  RELAY_CHECK(walk_, "a reference is used outside of a walk");
  const Type type = tangent_type(value->type);
  cells.set(target, tangent.is_zero() ? Expr() : tangent.value(type, value, code), walk_, code);
}

}  // namespace relay::ad
