#include "tests/oracle/recorded.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/tensor.h"

namespace relay::tests {
namespace {

using Json = nlohmann::json;
using lang::DType;

// How far two numbers may be apart: relative to the number, and to the largest one of the result.
struct Tolerance {
  double relative;
  double of_largest;
};

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return {2e-3, 1e-3};
    case DType::BFloat16:
      return {1e-2, 1e-2};
    case DType::Float32:
      return {1e-5, 1e-6};
    case DType::Float64:
      return {1e-12, 1e-14};
    default:
      return {0, 0};
  }
}

double number_of(const Json& element) {
  if (element.is_number()) return element.get<double>();
  const auto text = element.get<std::string>();
  return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
}

// Integers of 64 bits do not all fit into a double.
bool same_integer(const lang::Tensor& tensor, std::int64_t at, const Json& element) {
  const std::uint64_t bits = tensor.bits_at(at);
  if (tensor.dtype() == DType::UInt64) return bits == element.get<std::uint64_t>();
  return lang::int_from_bits(tensor.dtype(), bits) == element.get<std::int64_t>();
}

std::string tensor_difference(const Json& wanted, const lang::Tensor& tensor, double relative) {
  const auto dtype = wanted.at("dtype").get<std::string>();
  if (dtype != lang::name_of(tensor.dtype()))
    return fmt::format("the dtype is {}, recorded is {}", lang::name_of(tensor.dtype()), dtype);
  const auto shape = wanted.at("shape").get<std::vector<std::int64_t>>();
  if (shape != tensor.shape()) {
    return fmt::format("the shape is ({}), recorded is ({})", fmt::join(tensor.shape(), ", "),
                       fmt::join(shape, ", "));
  }
  const Json& data = wanted.at("data");
  Tolerance tolerance = tolerance_of(tensor.dtype());
  if (relative > 0) tolerance = {relative, relative / 10};
  double largest = 0;
  for (const Json& element : data) {
    const double size = std::abs(number_of(element));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  for (std::int64_t k = 0; k < tensor.element_count(); ++k) {
    const Json& element = data.at(static_cast<std::size_t>(k));
    const double theirs = number_of(element);
    const double ours = tensor.number_at(k);
    bool agrees = false;
    if (!lang::is_float(tensor.dtype())) {
      agrees = tensor.dtype() == DType::Bool ? ours == theirs : same_integer(tensor, k, element);
    } else if (std::isfinite(theirs) && std::isfinite(ours)) {
      agrees = std::abs(ours - theirs) <=
               tolerance.relative * std::abs(theirs) + tolerance.of_largest * largest;
    } else {
      agrees = ours == theirs || (std::isnan(ours) && std::isnan(theirs));
    }
    if (!agrees) return fmt::format("element {} is {}, recorded is {}", k, ours, element.dump());
  }
  return "";
}

std::string value_difference(const Json& wanted, const lang::Value& value, double relative) {
  if (!wanted.contains("tuple")) {
    if (!value.is_scalar() && !value.is_tensor()) return "the result is no tensor";
    return tensor_difference(wanted, *value.to_tensor(), relative);
  }
  const Json& fields = wanted.at("tuple");
  if (value.kind() != lang::ValueKind::Tuple || value.as_tuple().fields().size() != fields.size())
    return fmt::format("the result is no tuple of {}", fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto found = value_difference(fields[i], value.as_tuple().fields()[i], relative);
    if (!found.empty()) return fmt::format("field {}: {}", i, found);
  }
  return "";
}

}  // namespace

struct Recorded::Impl {
  Json rows = Json::object();
};

Recorded::Recorded(const std::string& path) : impl_(std::make_unique<Impl>()) {
  std::ifstream file(path);
  if (file) impl_->rows = Json::parse(file);
}

Recorded::~Recorded() = default;

std::vector<std::string> Recorded::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, result] : impl_->rows.items()) keys.push_back(key);
  return keys;
}

std::string Recorded::difference(const std::string& key, const lang::Value& value,
                                 double tolerance) const {
  const auto found = impl_->rows.find(key);
  if (found == impl_->rows.end()) return "no result is recorded for this row; run ./dev oracle";
  return value_difference(*found, value, tolerance);
}

}  // namespace relay::tests
