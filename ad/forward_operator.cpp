#include <fmt/format.h>

#include "ad/adjoint_operator.h"
#include "ad/forward_block.h"
#include "ad/pairs.h"
#include "ad/shortcut.h"
#include "ad/tangent_operator.h"
#include "ad/way.h"
#include "index/flatten.h"
#include "index/scalar_form.h"
#include "lang/build.h"
#include "lang/diagnostic.h"

// Operators in forward mode. An operator that says nothing of its own is linear, or works on each
// element alone, or follows its definition; where the extents are not known before it runs, as an
// operator of its own.
namespace relay::ad {

using index::flatten;
using index::is_arithmetic;
using index::scalar_form;
using lang::as;
using lang::Binding;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool has_constant_dims(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const Type& field : tuple->fields) {
      if (!has_constant_dims(field)) return false;
    }
    return true;
  }
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return false;
  for (const lang::Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

}  // namespace

void ForwardBlock::operator_call(const Binding& binding, const lang::Call& call,
                                 const lang::OpDef& op, Emitter& code) {
  Activity active;
  for (const Expr& arg : call.args)
    active.push_back(!tangent_of(arg).is_zero() && !is_unit(tangent_type(arg->type)));
  const bool is_zero = std::find(active.begin(), active.end(), true) == active.end();
  if (is_zero || !op.differentiable || is_unit(tangent_type(call.type)))
    return code.append({binding});
  if (op.tangent) return by_rule(binding, call, op, code);
  switch (shortcut_of(call, op, active)) {
    case Shortcut::Diagonal:
      return by_gradient(binding, call, op, code);
    case Shortcut::Joint:
      return by_itself(binding, call, true, code);
    case Shortcut::Separate:
      return by_itself(binding, call, false, code);
    case Shortcut::None:
      break;
  }
  bool is_constant = has_constant_dims(call.type);
  for (const Expr& arg : call.args) is_constant = is_constant && has_constant_dims(arg->type);
  if (op.definition && is_constant) return by_definition(binding, call, op, code);
  if (op.definition || !op.static_form.empty()) return by_operator(binding, call, op, code);
  lang::fail(DiagnosticKind::NotDifferentiable,
             fmt::format("operator `{}` has no derivative", op.name), binding.span);
}

void ForwardBlock::by_rule(const Binding& binding, const lang::Call& call, const lang::OpDef& op,
                           Emitter& code) {
  std::vector<Expr> tangents;
  for (const Expr& arg : call.args) {
    const TangentValue tangent = tangent_of(arg);
    tangents.push_back(tangent.is_zero() ? Expr()
                                         : tangent.value(tangent_type(arg->type), arg, code));
  }
  const auto tangent = lang::tangent_at(
      op, {call.args, call.attrs, lang::make_var(binding.variable), std::move(tangents)});
  if (!tangent) return by_operator(binding, call, op, code);
  code.append({binding});
  if (*tangent)
    set_tangent(binding.variable, TangentValue(code.emit("d" + binding.variable->name, *tangent)));
}

// A diagonal matrix is its own transpose.
void ForwardBlock::by_gradient(const Binding& binding, const lang::Call& call,
                               const lang::OpDef& op, Emitter& code) {
  std::vector<Expr> products;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const TangentValue own = tangent_of(call.args[i]);
    if (own.is_zero()) continue;
    const Expr tangent = own.value(tangent_type(call.args[i]->type), call.args[i], code);
    const auto parts =
        lang::gradient_at(op, {call.args, call.attrs, lang::make_var(binding.variable), tangent});
    if (!parts) return by_operator(binding, call, op, code);
    if (i < parts->size() && (*parts)[i]) products.push_back((*parts)[i]);
  }
  code.append({binding});
  const std::string name = "d" + binding.variable->name;
  Expr sum;
  for (const Expr& product : products) {
    const Expr part = code.emit(name, product);
    sum = sum ? code.emit(name, build::op("add", {sum, part})) : part;
  }
  if (sum) set_tangent(binding.variable, TangentValue(sum));
}

void ForwardBlock::by_itself(const Binding& binding, const lang::Call& call, bool jointly,
                             Emitter& code) {
  code.append({binding});
  const std::string name = "d" + binding.variable->name;
  const auto with = [&](std::vector<Expr> args) {
    return code.emit(name, lang::make_call(call.callee, std::move(args), call.attrs, call.span,
                                           binding.value->type));
  };
  std::vector<Expr> all = call.args;
  Expr sum;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const TangentValue own = tangent_of(call.args[i]);
    if (own.is_zero()) continue;
    all[i] = own.value(tangent_type(call.args[i]->type), call.args[i], code);
    if (jointly) continue;
    std::vector<Expr> args = call.args;
    args[i] = all[i];
    const Expr part = with(std::move(args));
    sum = sum ? code.emit(name, pairs_.tangents().add(sum, part)) : part;
  }
  set_tangent(binding.variable, TangentValue(jointly ? with(std::move(all)) : sum));
}

// The steps of the definition take the operator's place, so that their tangents share what they
// compute; one step stays the operator.
void ForwardBlock::by_definition(const Binding& binding, const lang::Call& call,
                                 const lang::OpDef& op, Emitter& code) {
  const auto expanded =
      lang::definition_at(op, {call.args, call.attrs, binding.value->type}, call.algebra);
  if (!expanded) return by_operator(binding, call, op, code);
  const lang::Block block = flatten(*expanded);
  placed_at(binding.span, [&] {
    const Expr form = block.bindings.empty() ? scalar_form(block.result) : Expr();
    if (form && is_arithmetic(form)) {
      code.append({binding});
      return arithmetic({binding.variable, form, binding.span}, code);
    }
    for (const Binding& inner : block.bindings) step(inner, code);
    step({binding.variable, block.result, binding.span}, code);
  });
}

void ForwardBlock::by_operator(const Binding& binding, const lang::Call& call,
                               const lang::OpDef& op, Emitter& code) {
  code.append({binding});
  Activity active;
  std::vector<Expr> args = call.args;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const TangentValue own = tangent_of(call.args[i]);
    active.push_back(op.inputs[i].attr.empty() && !own.is_zero());
    if (active[i]) args.push_back(float_part(call.args[i], own, code));
  }
  if (args.size() == call.args.size()) return;
  const lang::OpDef& derived = tangent_operator(op, active);
  std::vector<Type> params;
  for (const Expr& arg : args) params.push_back(arg->type);
  const Type result = float_part(binding.value->type);
  const Expr callee =
      lang::make_operator(&derived, call.span, lang::function_type(std::move(params), result));
  const Expr tangent =
      code.emit("d" + binding.variable->name,
                lang::make_call(callee, std::move(args), call.attrs, call.span, result));
  set_tangent(binding.variable, whole_tangent(binding.value->type, tangent, code));
}

}  // namespace relay::ad
