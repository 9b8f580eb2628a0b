#include "ad/adjoint.h"

#include "index/linear_index.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using index::extent_of_axis;
using lang::as;
using lang::Expr;
using lang::Type;
namespace build = lang::build;

Expr Emitter::emit(const std::string& name, Expr value) {
  if (build::is_atom(value)) return value;
  lang::VariableRef variable = lang::make_variable(name, value->type, value->span);
  bindings_.push_back({variable, std::move(value)});
  return lang::make_var(variable);
}

void Emitter::append(const std::vector<lang::Binding>& bindings) {
  bindings_.insert(bindings_.end(), bindings.begin(), bindings.end());
}

Expr Emitter::body_at(const lang::Function& fn, const std::vector<Expr>& args) {
  lang::Substitution given;
  for (std::size_t i = 0; i < args.size(); ++i) given[fn.params[i].get()] = args[i];
  const lang::Block block = lang::open_block(lang::rename_bound(lang::substitute(fn.body, given)));
  append(block.bindings);
  return block.result;
}

Expr Emitter::extent_of(const Expr& tensor, std::size_t axis) {
  const lang::Dim& dim = lang::as<lang::TensorType>(tensor->type)->shape[axis];
  if (!dim.is_any()) return extent_of_axis(dim);
  return emit("extent", build::op("dim_of", {tensor}, {{"axis", static_cast<std::int64_t>(axis)}}));
}

Expr Emitter::bound(const Expr& atom) const {
  Expr value = atom;
  for (auto binding = bindings_.rbegin(); binding != bindings_.rend(); ++binding) {
    const auto* var = as<lang::Var>(value);
    if (var && binding->variable == var->variable) value = binding->value;
    const auto* projection = as<lang::Projection>(value);
    const auto* of = projection ? as<lang::Var>(projection->tuple) : nullptr;
    const auto* tuple =
        of && binding->variable == of->variable ? as<lang::Tuple>(binding->value) : nullptr;
    if (tuple) value = Expr(tuple->fields[projection->index]);
  }
  return value;
}

bool Adjoint::is_zero() const {
  if (whole_) return false;
  for (const auto& field : fields_) {
    if (!field.is_zero()) return false;
  }
  return true;
}

void Adjoint::add(const Expr& contribution, const Type& type, Emitter& emitter,
                  const std::string& name) {
  if (!contribution || is_unit(type)) return;
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return add_tensor(contribution, emitter, name);
  const Expr atom = emitter.emit(name, contribution);
  if (!whole_ && fields_.empty()) {
    whole_ = atom;
    return;
  }
  split(*tuple, emitter);
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    fields_[i].add(build::project(atom, i), tuple->fields[i], emitter);
}

namespace {

const lang::ScatterReduce* as_scatter_into_zeros(const Expr& expr) {
  const auto* scatter = as<lang::ScatterReduce>(expr);
  const auto* init = scatter ? as<lang::Call>(scatter->init) : nullptr;
  const auto* op = init ? as<lang::Operator>(init->callee) : nullptr;
  const bool is_zero = op && (op->op->name == "zeros" || op->op->name == "zeros_like");
  return is_zero && scatter->op == lang::ReduceOp::Sum ? scatter : nullptr;
}

Expr scatter_into(const Expr& init, const Expr& scatter) {
  const auto& node = lang::cast<lang::ScatterReduce>(scatter);
  return lang::rename_bound(lang::make_scatter_reduce(node.op, init, node.binders, node.indices,
                                                      node.value, node.span, node.type));
}

}  // namespace

void Adjoint::add_tensor(const Expr& contribution, Emitter& emitter, const std::string& name) {
  if (as_scatter_into_zeros(contribution)) {
    if (!whole_ || !scatters_.empty()) scatters_.push_back(contribution);
    whole_ = emitter.emit(name, whole_ ? scatter_into(whole_, contribution) : contribution);
    return;
  }
  const Expr dense = emitter.emit(name, contribution);
  const std::vector<Expr> scatters = std::exchange(scatters_, {});
  if (!scatters.empty()) {
    whole_ = dense;
    for (const Expr& scatter : scatters) whole_ = emitter.emit("d", scatter_into(whole_, scatter));
    return;
  }
  whole_ = whole_ ? emitter.emit("d", emitter.tangents().add(whole_, dense)) : dense;
}

void Adjoint::start(const Type& type, std::vector<lang::VariableRef>& so_far) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    fields_.resize(tuple->fields.size());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!is_unit(tuple->fields[i])) fields_[i].start(tuple->fields[i], so_far);
    }
    return;
  }
  const bool is_tensor = type->kind == lang::TypeKind::Tensor && !lang::is_scalar(type);
  so_far.push_back(is_tensor ? lang::make_variable("so_far", type) : lang::VariableRef());
  if (is_tensor) whole_ = lang::make_var(so_far.back());
}

void Adjoint::replace(Expr whole) {
  whole_ = std::move(whole);
  fields_.clear();
  scatters_.clear();
}

void Adjoint::split(const lang::TupleType& tuple, Emitter& emitter) {
  if (fields_.empty()) fields_.resize(tuple.fields.size());
  if (!whole_) return;
  const Expr whole = std::exchange(whole_, nullptr);
  for (std::uint32_t i = 0; i < tuple.fields.size(); ++i) {
    if (!is_unit(tuple.fields[i]))
      fields_[i].add(build::project(whole, i), tuple.fields[i], emitter);
  }
}

void Adjoint::add_field(std::uint32_t index, const Expr& contribution, const Type& tuple_tangent,
                        Emitter& emitter) {
  const auto* tuple = as<lang::TupleType>(tuple_tangent);
  if (!contribution || is_unit(tuple->fields[index])) return;
  split(*tuple, emitter);
  fields_[index].add(contribution, tuple->fields[index], emitter);
}

Adjoint& Adjoint::part(std::uint32_t index, const Type& tuple_tangent, Emitter& emitter) {
  split(*as<lang::TupleType>(tuple_tangent), emitter);
  return fields_[index];
}

Expr Adjoint::value(const Type& type, const Expr& primal, Emitter& emitter) const {
  if (whole_) return whole_;
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple || fields_.empty()) return emitter.emit("d", zero_of(type, primal));
  std::vector<Expr> fields;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
    const bool asks = primal && !fields_[i].is_whole() && needs_primal(tuple->fields[i]);
    const Expr part = asks ? emitter.emit("p", part_of(primal, i)) : Expr();
    fields.push_back(fields_[i].value(tuple->fields[i], part, emitter));
  }
  return emitter.emit("d", build::tuple(std::move(fields)));
}

Expr Adjoint::field(std::uint32_t index, const Type& tuple_tangent, Emitter& emitter) const {
  const auto* tuple = as<lang::TupleType>(tuple_tangent);
  if (is_unit(tuple->fields[index])) return nullptr;
  if (whole_) return emitter.emit("d", build::project(whole_, index));
  if (fields_.empty() || fields_[index].is_zero()) return nullptr;
  return fields_[index].value(tuple->fields[index], nullptr, emitter);
}

}  // namespace relay::ad
