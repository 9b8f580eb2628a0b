#include "ad/adjoint.h"

#include "lang/build.h"

namespace relay::ad {

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

bool Adjoint::is_zero() const {
  if (whole_) return false;
  for (const auto& field : fields_) {
    if (!field.is_zero()) return false;
  }
  return true;
}

void Adjoint::add(const Expr& contribution, const Type& type, Emitter& emitter) {
  if (!contribution || is_unit(type)) return;
  if (const auto* tuple = as<lang::TupleType>(type)) {
    if (!whole_ && fields_.empty()) {
      whole_ = contribution;
      return;
    }
    split(*tuple, emitter);
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      fields_[i].add(emitter.emit("d", build::project(contribution, i)), tuple->fields[i], emitter);
    }
    return;
  }
  whole_ = whole_ ? emitter.emit("d", emitter.tangents().add(whole_, contribution)) : contribution;
}

void Adjoint::split(const lang::TupleType& tuple, Emitter& emitter) {
  if (fields_.empty()) fields_.resize(tuple.fields.size());
  if (!whole_) return;
  const Expr whole = std::exchange(whole_, nullptr);
  for (std::uint32_t i = 0; i < tuple.fields.size(); ++i) {
    if (!is_unit(tuple.fields[i]))
      fields_[i].add(emitter.emit("d", build::project(whole, i)), tuple.fields[i], emitter);
  }
}

void Adjoint::add_field(std::uint32_t index, const Expr& contribution, const Type& tuple_tangent,
                        Emitter& emitter) {
  const auto* tuple = as<lang::TupleType>(tuple_tangent);
  if (!contribution || is_unit(tuple->fields[index])) return;
  split(*tuple, emitter);
  fields_[index].add(contribution, tuple->fields[index], emitter);
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
