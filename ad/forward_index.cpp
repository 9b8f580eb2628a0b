#include "ad/forward_block.h"
#include "ad/index_tangent.h"
#include "ad/pairs.h"
#include "index/scalar_form.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"

// Index notation in forward mode. Arithmetic has a tangent of its own beside it; where a body does
// more (calls, branches over tensors), it gives its value and its tangent together.
namespace relay::ad {

using index::is_arithmetic;
using index::scalar_form;
using lang::as;
using lang::Binding;
using lang::Expr;
using lang::IndexBinder;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

void ForwardBlock::index_notation(const Binding& binding, Emitter& code) {
  if (!is_active(uses_of(lang::free_variables(binding.value))) &&
      !pairs_.reference_use().in(binding.value))
    return code.append({binding});
  if (const Expr form = scalar_form(binding.value); is_arithmetic(form)) {
    code.append({binding});
    return arithmetic({binding.variable, form, binding.span}, code);
  }
  if (const auto* reduction = as<lang::Reduction>(binding.value))
    return apart(binding, reduction->binders, reduction->body, code);
  if (const auto* scatter = as<lang::ScatterReduce>(binding.value))
    return apart(binding, scatter->binders, scatter->value, code);
  element_by_element(binding, code);
}

void ForwardBlock::arithmetic(const Binding& binding, Emitter& code) {
  const auto tangent = [&](const VariableRef& variable) -> Expr {
    const Expr atom = lang::make_var(variable);
    const TangentValue known = tangent_of(atom);
    if (known.is_zero()) return nullptr;
    return known.value(tangent_type(variable->type), atom, code);
  };
  const std::vector<Expr> tangents =
      tangents_of_arithmetic(binding.value, lang::make_var(binding.variable), tangent, code);
  std::vector<TangentValue> fields;
  for (const Expr& field : tangents)
    fields.push_back(field ? TangentValue(code.emit("d" + binding.variable->name, field))
                           : TangentValue());
  const bool is_tuple = as<lang::TupleType>(binding.value->type) != nullptr;
  set_tangent(binding.variable, is_tuple ? TangentValue::of_fields(std::move(fields)) : fields[0]);
}

// The values that are folded come first, as a tensor.
void ForwardBlock::apart(const Binding& binding, const std::vector<IndexBinder>& binders,
                         const Expr& body, Emitter& code) {
  const Expr all = lang::rename_bound(lang::make_comprehension(binders, body));
  const VariableRef values = lang::make_variable("values", all->type);
  step({values, all, binding.span}, code);
  const Expr value = build::at(lang::make_var(values), uses_of(binders));
  const auto* scatter = as<lang::ScatterReduce>(binding.value);
  const Expr folded =
      scatter ? lang::make_scatter_reduce(scatter->op, scatter->init, scatter->binders,
                                          scatter->indices, value, binding.value->span,
                                          binding.value->type, scatter->algebra)
              : lang::make_reduction(lang::cast<lang::Reduction>(binding.value).op, binders, value,
                                     binding.value->span, binding.value->type);
  step({binding.variable, folded, binding.span}, code);
}

namespace {

// Tensors of a value of tuples, in order.
void leaves_of(const Expr& value, std::vector<Expr>& leaves, Emitter& code) {
  const auto* tuple = as<lang::TupleType>(value->type);
  if (!tuple) return leaves.push_back(value);
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    leaves_of(code.emit("part", build::project(value, i)), leaves, code);
}

void leaf_types(const Type& type, std::vector<Type>& leaves) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return leaves.push_back(type);
  for (const Type& field : tuple->fields) leaf_types(field, leaves);
}

// The value of that type again, from leaves of a tuple.
Expr from_leaves(const Type& type, const Expr& leaves, std::uint32_t& next, Emitter& code) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return code.emit("part", build::project(leaves, next++));
  std::vector<Expr> fields;
  for (const Type& field : tuple->fields) fields.push_back(from_leaves(field, leaves, next, code));
  return build::tuple(std::move(fields));
}

}  // namespace

void ForwardBlock::element_by_element(const Binding& binding, Emitter& code) {
  const auto& node = lang::cast<lang::Comprehension>(binding.value);
  Emitter inner(pairs_.tangents());
  const Dual dual = run(node.body, inner);
  if (dual.tangent.is_zero() && !pairs_.reference_use().in(node.body))
    return code.append({binding});
  const Type tangent = tangent_type(node.body->type);
  std::vector<Expr> leaves;
  leaves_of(dual.value, leaves, inner);
  leaves_of(dual.tangent.value(tangent, dual.value, inner), leaves, inner);
  const Expr body = lang::close_block({inner.take(), build::tuple(std::move(leaves))});
  std::vector<Type> types;
  leaf_types(binding.value->type, types);
  leaf_types(tangent_type(binding.value->type), types);
  const Expr all = code.emit(binding.variable->name + "_both",
                             lang::make_comprehension(node.binders, body, binding.value->span,
                                                      lang::tuple_type(std::move(types))));
  std::uint32_t next = 0;
  const Expr value = from_leaves(binding.value->type, all, next, code);
  code.append({{binding.variable, value, binding.span}});
  const Expr own = from_leaves(tangent_type(binding.value->type), all, next, code);
  set_tangent(binding.variable, TangentValue(code.emit("d" + binding.variable->name, own)));
}

}  // namespace relay::ad
