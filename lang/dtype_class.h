#pragma once

#include <optional>
#include <string_view>

#include "lang/dtype.h"

// Classes of dtypes, to which a rule may restrict what it speaks of: `x: Integer`.
namespace relay::lang {

enum class DTypeClass : std::uint8_t { Boolean, Integer, Float };

inline std::optional<DTypeClass> parse_dtype_class(std::string_view name) {
  if (name == "Boolean") return DTypeClass::Boolean;
  if (name == "Integer") return DTypeClass::Integer;
  if (name == "Float") return DTypeClass::Float;
  return std::nullopt;
}

inline bool is_in_class(DType dtype, DTypeClass wanted) {
  switch (wanted) {
    case DTypeClass::Boolean:
      return dtype == DType::Bool;
    case DTypeClass::Integer:
      return is_int(dtype);
    case DTypeClass::Float:
      return is_float(dtype);
  }
  return false;
}

// What the attributes of a rule's parameter call its class.
inline constexpr std::string_view kDTypeClassRole = "dtype_class";

}  // namespace relay::lang
