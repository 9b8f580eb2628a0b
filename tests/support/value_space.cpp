#include "tests/support/value_space.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "lang/tensor.h"

namespace relay::tests {

using lang::DType;
using lang::Value;
using lang::ValueKind;

namespace {

Value from_double(double x) {
  return Value::scalar(DType::Float64, std::bit_cast<std::uint64_t>(x));
}
double to_double(const Value& value) { return std::bit_cast<double>(value.bits()); }
bool is_number(const Value& value) { return value.is_scalar() && value.dtype() == DType::Float64; }
bool is_numbers(const Value& value) {
  return value.is_tensor() && value.as_tensor().dtype() == DType::Float64;
}

std::span<Value> fields_of(const Value& value) {
  if (value.kind() == ValueKind::Tuple) return value.as_tuple().fields();
  if (value.kind() == ValueKind::Adt) return value.as_adt().fields();
  return {};
}

// The same structure with coordinates `change(coordinate)`.
template <typename Change>
Value rebuilt(const Value& value, const Change& change) {
  if (is_number(value)) return from_double(change(to_double(value)));
  if (is_numbers(value)) {
    const lang::Tensor& old = value.as_tensor();
    auto tensor = lang::Tensor::make(DType::Float64, old.shape());
    for (std::int64_t i = 0; i < old.element_count(); ++i) {
      tensor->set_bits(i, std::bit_cast<std::uint64_t>(change(old.number_at(i))));
    }
    return Value::tensor(std::move(tensor));
  }
  std::vector<Value> fields;
  for (const Value& field : fields_of(value)) fields.push_back(rebuilt(field, change));
  if (value.kind() == ValueKind::Tuple) return Value::tuple(lang::TupleCell::make(fields));
  if (value.kind() == ValueKind::Adt && !fields.empty())
    return Value::adt(lang::AdtCell::make(&value.as_adt().constructor(), fields));
  return value;
}

template <typename Visit>
void for_each(const Value& value, const Visit& visit) {
  rebuilt(value, [&](double x) {
    visit(x);
    return x;
  });
}

// Calls visit with the coordinates of both. False if the structures differ.
template <typename Visit>
bool for_both(const Value& a, const Value& b, const Visit& visit) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == ValueKind::Adt && &a.as_adt().constructor() != &b.as_adt().constructor())
    return false;
  if (is_number(a)) {
    if (!is_number(b)) return false;
    visit(to_double(a), to_double(b));
    return true;
  }
  if (is_numbers(a)) {
    if (!is_numbers(b) || a.as_tensor().element_count() != b.as_tensor().element_count())
      return false;
    for (std::int64_t i = 0; i < a.as_tensor().element_count(); ++i)
      visit(a.as_tensor().number_at(i), b.as_tensor().number_at(i));
    return true;
  }
  const auto left = fields_of(a);
  const auto right = fields_of(b);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!for_both(left[i], right[i], visit)) return false;
  }
  return true;
}

}  // namespace

std::size_t coordinate_count(const Value& value) {
  std::size_t count = 0;
  for_each(value, [&](double) { ++count; });
  return count;
}

Value random_direction(const Value& value, Random& random) {
  return rebuilt(value, [&](double) { return random.number() / 2; });
}

Value unit_direction(const Value& value, std::size_t coordinate) {
  std::size_t at = 0;
  return rebuilt(value, [&](double) { return at++ == coordinate ? 1.0 : 0.0; });
}

Value moved(const Value& value, const Value& direction, double step) {
  std::vector<double> numbers;
  for_both(value, direction, [&](double x, double d) { numbers.push_back(x + step * d); });
  std::size_t at = 0;
  return rebuilt(value, [&](double) { return numbers.at(at++); });
}

double inner_product(const Value& a, const Value& b) {
  double sum = 0;
  const bool same = for_both(a, b, [&](double x, double y) { sum += x * y; });
  return same ? sum : std::numeric_limits<double>::quiet_NaN();
}

double inner_magnitude(const Value& a, const Value& b) {
  double sum = 0;
  for_both(a, b, [&](double x, double y) { sum += std::abs(x * y); });
  return sum;
}

}  // namespace relay::tests
