#include "models/exporter/value.h"

#include <utility>

#include "lang/diagnostic.h"
#include "lang/value.h"

namespace relay::models::exporter {

const lang::TensorType& Value::tensor() const {
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!is_tensor() || !tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known())
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported in ONNX: a value that is no tensor of a known rank");
  return *tensor;
}

Value lost_value() { return {}; }

Value tensor_value(std::string name, lang::Type type) {
  Value value;
  value.kind = Value::Kind::Tensor;
  value.name = std::move(name);
  value.type = std::move(type);
  return value;
}

Value constant_value(lang::TensorRef constant, std::string wanted) {
  Value value;
  value.kind = Value::Kind::Tensor;
  value.type = lang::type_of_tensor(*constant);
  value.constant = std::move(constant);
  value.wanted = std::move(wanted);
  if (value.rank() == 0 && lang::is_int(value.dtype()))
    value.affine = Affine{{}, 0, lang::int_from_bits(value.dtype(), value.constant->bits_at(0))};
  return value;
}

Value fields_value(std::vector<Value> fields, lang::Type type,
                   const lang::Constructor* constructor) {
  Value value;
  value.kind = Value::Kind::Fields;
  value.fields = std::move(fields);
  value.type = std::move(type);
  value.constructor = constructor;
  return value;
}

Value function_value(lang::Expr function, ScopeRef captured) {
  Value value;
  value.kind = Value::Kind::Function;
  value.type = function->type;
  value.function = std::move(function);
  value.captured = captured;
  return value;
}

void collect_tensors(const Value& value, std::vector<Value>& tensors) {
  switch (value.kind) {
    case Value::Kind::Tensor:
      tensors.push_back(value);
      return;
    case Value::Kind::Fields:
      for (const Value& each : value.fields) collect_tensors(each, tensors);
      return;
    case Value::Kind::Function:
      lang::fail(lang::DiagnosticKind::Unsupported,
                 "not supported in ONNX: a function that is a value of a branch, a loop or the "
                 "result");
    case Value::Kind::Lost:
      return;
  }
}

Value with_tensors(const Value& value, const std::vector<Value>& tensors, std::size_t& next) {
  if (value.is_tensor()) return tensors[next++];
  Value result = value;
  for (Value& each : result.fields) each = with_tensors(each, tensors, next);
  return result;
}

void give_type(Value& value, const lang::Type& type) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (lang::as<lang::TensorType>(type) && value.is_tensor()) value.type = type;
  for (std::size_t k = 0; tuple && k < tuple->fields.size(); ++k)
    give_type(value.fields.at(k), tuple->fields[k]);
}

bool same_form(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.constructor != b.constructor || a.fields.size() != b.fields.size())
    return false;
  for (std::size_t k = 0; k < a.fields.size(); ++k) {
    if (!same_form(a.fields[k], b.fields[k])) return false;
  }
  return true;
}

}  // namespace relay::models::exporter
