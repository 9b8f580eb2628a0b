#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "lang/value.h"

// Values for tests that make them by hand.
namespace relay::tests {

inline std::uint64_t bits_of_number(lang::DType dtype, double number) {
  return lang::is_float(dtype) ? lang::bits_from_double(dtype, number)
                               : lang::bits_from_int(dtype, static_cast<std::int64_t>(number));
}

inline lang::Value tensor_of(const std::vector<double>& numbers,
                             const std::vector<std::int64_t>& shape,
                             lang::DType dtype = lang::DType::Float64) {
  const lang::TensorRef tensor = lang::Tensor::make(dtype, shape);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    tensor->set_bits(static_cast<std::int64_t>(i), bits_of_number(dtype, numbers[i]));
  return lang::Value::tensor(tensor);
}

inline lang::Value vector_of(const std::vector<double>& numbers,
                             lang::DType dtype = lang::DType::Float64) {
  return tensor_of(numbers, {static_cast<std::int64_t>(numbers.size())}, dtype);
}

inline lang::Value tuple_of(std::vector<lang::Value> fields) {
  return lang::Value::tuple(lang::TupleCell::make(fields));
}

}  // namespace relay::tests
