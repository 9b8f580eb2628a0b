// Numbers as a program writes them, whose dtypes calls settle.

#include "api/number.h"

#include <cmath>

namespace relay::api {

namespace {

bool is_of(const Number& number, lang::DType dtype) {
  if (number.is_integer) {
    if (lang::is_float(dtype)) return true;
    if (dtype == lang::DType::Bool || (lang::is_unsigned_int(dtype) && number.integer < 0))
      return false;
    return lang::int_from_bits(dtype, lang::bits_from_int(dtype, number.integer)) == number.integer;
  }
  if (!lang::is_float(dtype)) return false;
  return !std::isfinite(number.real) ||
         std::isfinite(lang::double_from_bits(dtype, lang::bits_from_double(dtype, number.real)));
}

lang::Value as_value(const Number& number, lang::DType dtype) {
  return lang::Value::scalar(dtype, number.is_integer ? lang::bits_from_int(dtype, number.integer)
                                                      : lang::bits_from_double(dtype, number.real));
}

relay_error* make_number(const Number& number, lang::DType plain, lang::DType large,
                         relay_value** value) {
  return enter(nullptr, [&]() -> relay_error* {
    const lang::DType dtype = is_of(number, plain) ? plain : large;
    *value = make_value(nullptr, as_value(number, dtype), lang::scalar_type(dtype));
    (*value)->number = number;
    return nullptr;
  });
}

}  // namespace

char number_kind(const relay_value& value) {
  if (!value.number) return 0;
  return value.number->is_integer ? 'i' : 'f';
}

lang::Type type_at(const relay_value& arg, const lang::Type& wanted) {
  const auto* tensor = arg.number ? lang::as<lang::TensorType>(wanted) : nullptr;
  const bool is_wanted =
      tensor && tensor->dtype.is_known() && is_of(*arg.number, tensor->dtype.known());
  return is_wanted ? lang::scalar_type(tensor->dtype.known()) : arg.type;
}

lang::Value value_at(const relay_value& arg, const lang::Type& type) {
  if (!arg.number) return arg.value;
  return as_value(*arg.number, lang::as<lang::TensorType>(type)->dtype.known());
}

}  // namespace relay::api

extern "C" {

relay_error* relay_float(double number, relay_value** value) {
  using relay::lang::DType;
  if (!value) return relay::api::bad_argument("relay_float: `value` is NULL");
  *value = nullptr;
  return relay::api::make_number({false, number, 0}, DType::Float32, DType::Float64, value);
}

relay_error* relay_int(std::int64_t number, relay_value** value) {
  using relay::lang::DType;
  if (!value) return relay::api::bad_argument("relay_int: `value` is NULL");
  *value = nullptr;
  return relay::api::make_number({true, 0, number}, DType::Int32, DType::Int64, value);
}

}  // extern "C"
