#include "models/onnx/call.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::models::onnx {

using lang::DiagnosticKind;

void Call::unsupported(const std::string& what) const {
  lang::fail(DiagnosticKind::Unsupported, "not supported: " + what);
}

void Call::bad(const std::string& what) const { lang::fail(DiagnosticKind::BadData, what); }

Value& Call::in(std::size_t k) const {
  if (!has(k)) bad(fmt::format("input {} is not given", k));
  return *inputs_[k];
}

std::int64_t Call::extent(std::size_t k, std::size_t axis) const {
  const Value& value = in(k);
  if (axis >= value.rank()) bad(fmt::format("input {} has {} axes", k, value.rank()));
  const lang::Dim& dim = value.dims()[axis];
  if (!dim.is_constant())
    unsupported(
        fmt::format("the extent of axis {} of input {} is `{}`, which has to be a number (--shape)",
                    axis, k, dim.to_string()));
  return dim.constant();
}

std::int64_t Call::integer(std::string_view key, std::int64_t otherwise) const {
  return node.get<std::int64_t>(key, otherwise);
}
double Call::number(std::string_view key, double otherwise) const {
  return node.get<double>(key, otherwise);
}
std::string Call::string(std::string_view key, std::string otherwise) const {
  return node.get<std::string>(key, std::move(otherwise));
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view key) const {
  const auto* found = node.find<std::vector<std::int64_t>>(key);
  if (!found) return std::nullopt;
  return *found;
}

std::size_t Call::axis(std::int64_t axis, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count)
    bad(fmt::format("axis {} of a tensor with {} axes", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::int64_t> Call::axes(std::vector<std::int64_t> axes, std::size_t rank) const {
  for (std::int64_t& each : axes) each = static_cast<std::int64_t>(axis(each, rank));
  return axes;
}

std::vector<std::int64_t> Call::known(std::size_t input) const {
  auto result = integers_of(in(input));
  if (!result)
    unsupported(fmt::format("input {}, `{}`, is computed by the model, and has to be constant",
                            input, in(input).name));
  return *result;
}

std::vector<double> Call::known_numbers(std::size_t input) const {
  auto result = numbers_of(in(input));
  if (!result)
    unsupported(fmt::format("input {}, `{}`, is computed by the model, and has to be constant",
                            input, in(input).name));
  return *result;
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view key,
                                                        std::size_t input) const {
  if (has(input)) return known(input);
  return integers(key);
}

Value Call::let(std::string_view hint, const std::string& expression) const {
  return importer.line(hint, expression);
}

std::string Call::output_name(std::size_t output) const {
  return output < node.outputs.size() ? node.outputs[output] : std::string();
}

bool Call::wants(std::size_t output) const {
  return output < node.outputs.size() && !node.outputs[output].empty();
}

std::string Call::hint() const {
  std::string hint = output_name(outputs_.size());
  // `/fc/Gemm_output_0` is called after its node.
  if (const auto end = hint.rfind("_output_"); end != std::string::npos && end > 0)
    hint.resize(end);
  const bool is_number =
      std::all_of(hint.begin(), hint.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return hint;
  std::string name;
  for (const char c : node.op) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return hint.empty() ? name : name + "_" + hint;
}

void Call::give(const std::string& expression) {
  Value value = importer.line(hint(), expression);
  value.name = output_name(outputs_.size());
  outputs_.push_back(std::move(value));
}

void Call::give(const std::string& expression, std::vector<lang::Dim> extents) {
  give(expression);
  Value& value = outputs_.back();
  const auto* tensor = lang::as<lang::TensorType>(value.type);
  if (!tensor) return;
  value.type = lang::tensor_type(lang::Shape(std::move(extents)), tensor->dtype);
  importer.declare(value.text, value.type);
}

void Call::give(Value value) {
  if (!value.constant) value.name = output_name(outputs_.size());
  outputs_.push_back(std::move(value));
}

void Call::give_fields(const std::string& expression) {
  const Value tuple = importer.line(node.name.empty() ? hint() : node.name, expression);
  const auto* type = lang::as<lang::TupleType>(tuple.type);
  if (!type || type->fields.size() < node.outputs.size())
    bad(fmt::format("it has {} outputs", node.outputs.size()));
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    outputs_.push_back(importer.field(tuple, k, output_name(k)));
}

}  // namespace relay::models::onnx
