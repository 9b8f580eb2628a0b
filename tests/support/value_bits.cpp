#include "tests/support/value_bits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lang/tensor.h"

namespace relay::tests {

bool same_bits(const lang::Value& a, const lang::Value& b) {
  if (a.kind() == lang::ValueKind::Tuple && b.kind() == lang::ValueKind::Tuple) {
    const auto left = a.as_tuple().fields();
    const auto right = b.as_tuple().fields();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_bits);
  }
  if (a.kind() != b.kind() || !(a.is_scalar() || a.is_tensor())) return lang::bit_equal(a, b);
  const auto left = a.to_tensor();
  const auto right = b.to_tensor();
  if (left->dtype() != right->dtype() || left->shape() != right->shape()) return false;
  constexpr std::int64_t kMostLookedAt = 1 << 20;
  const std::int64_t step = left->element_count() / kMostLookedAt + 1;
  for (std::int64_t k = 0; k < left->element_count(); k += step) {
    const bool are_nan = std::isnan(left->number_at(k)) && std::isnan(right->number_at(k));
    if (!are_nan && left->bits_at(k) != right->bits_at(k)) return false;
  }
  return true;
}

lang::Value spread_out(const lang::Value& value) {
  if (value.kind() == lang::ValueKind::Tuple) {
    std::vector<lang::Value> fields;
    for (const lang::Value& field : value.as_tuple().fields()) fields.push_back(spread_out(field));
    return lang::Value::tuple(lang::TupleCell::make(fields));
  }
  if (!value.is_tensor()) return value;
  const lang::Tensor& tensor = value.as_tensor();
  const std::int64_t count = tensor.element_count();
  const auto wide = lang::Tensor::make(tensor.dtype(), {2 * count + 1});
  for (std::int64_t k = 0; k <= 2 * count; ++k) wide->set_bits(k, 0);
  std::vector<std::int64_t> strides;
  std::int64_t stride = 2;
  for (const std::int64_t extent : tensor.shape()) {
    strides.push_back(stride);
    stride *= std::max<std::int64_t>(extent, 1);
  }
  const auto view = lang::Tensor::view(*wide, tensor.shape(), strides, 1);
  for (std::int64_t k = 0; k < count; ++k) view->set_bits(k, tensor.bits_at(k));
  return lang::Value::tensor(view);
}

}  // namespace relay::tests
