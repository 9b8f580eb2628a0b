#include "ad/adjoint.h"

#include "lang/build.h"
#include "lang/module.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
namespace build = lang::build;

namespace {

bool holds_float(const Type& type, int depth = 0) {
  constexpr int kMaxDepth = 32;  // recursive data types repeat themselves long before
  if (depth > kMaxDepth) return false;
  if (const auto* tensor = as<lang::TensorType>(type))
    return !tensor->dtype.is_known() || lang::is_float(tensor->dtype.known());
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) {
      if (holds_float(field, depth + 1)) return true;
    }
    return false;
  }
  if (const auto* adt = as<lang::AdtType>(type)) {
    for (const auto& arg : adt->args) {
      if (holds_float(arg, depth + 1)) return true;
    }
    for (const auto& constructor : adt->def->constructors) {
      for (const auto& field : constructor.fields) {
        const auto* inner = as<lang::AdtType>(field);
        if (inner && inner->def == adt->def) continue;
        if (field->kind != lang::TypeKind::Var && holds_float(field, depth + 1)) return true;
      }
    }
    return false;
  }
  return true;  // functions, references
}

}  // namespace

bool is_unit(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  return tuple && tuple->fields.empty();
}

Type tangent_type(const Type& primal) {
  if (const auto* tensor = as<lang::TensorType>(primal)) {
    return lang::is_float(tensor->dtype.known()) ? primal : lang::unit_type();
  }
  if (const auto* tuple = as<lang::TupleType>(primal)) {
    std::vector<Type> fields;
    for (const auto& field : tuple->fields) {
      Type tangent = tangent_type(field);
      if (!tangent) return nullptr;
      fields.push_back(std::move(tangent));
    }
    return lang::tuple_type(std::move(fields));
  }
  return holds_float(primal) ? Type() : lang::unit_type();
}

Expr Emitter::emit(const std::string& name, Expr value) {
  if (build::is_atom(value)) return value;
  lang::VariableRef variable = lang::make_variable(name, value->type, value->span);
  bindings_.push_back({variable, std::move(value)});
  return lang::make_var(variable);
}

void Emitter::append(const std::vector<lang::Binding>& bindings) {
  bindings_.insert(bindings_.end(), bindings.begin(), bindings.end());
}

Expr zero_of(const Type& tangent, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const bool is_tuple = primal && as<lang::TupleType>(primal->type);
      fields.push_back(zero_of(tuple->fields[i], is_tuple ? build::project(primal, i) : Expr()));
    }
    return build::tuple(std::move(fields));
  }
  if (lang::is_scalar(tangent))
    return build::constant(as<lang::TensorType>(tangent)->dtype.known(), 0);
  return primal ? build::zeros_like(primal) : build::zeros_of(tangent);
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
  whole_ = whole_ ? emitter.emit("d", build::op("add", {whole_, contribution})) : contribution;
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
    const bool is_tuple = primal && as<lang::TupleType>(primal->type);
    const bool needs_primal = fields_[i].is_zero() && is_tuple && !is_unit(tuple->fields[i]);
    const Expr part = needs_primal ? emitter.emit("p", build::project(primal, i)) : Expr();
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

Expr as_gradient(const Expr& adjoint, const Type& primal_type, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(primal_type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(
          as_gradient(build::project(adjoint, i), tuple->fields[i], build::project(primal, i)));
    }
    return build::tuple(std::move(fields));
  }
  const auto* tensor = as<lang::TensorType>(primal_type);
  if (tensor && !lang::is_float(tensor->dtype.known())) {
    return lang::is_scalar(primal_type) ? build::constant(tensor->dtype.known(), 0)
                                        : build::zeros_like(primal);
  }
  return adjoint;
}

}  // namespace relay::ad
