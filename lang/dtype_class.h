#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "lang/dtype.h"

// Classes of dtypes, to which a rule may restrict what it speaks of: `x: Integer`.
namespace relay::lang {

enum class DTypeClass : std::uint8_t { Boolean, Integer, Float };

struct NamedDTypeClass {
  std::string_view name;
  DTypeClass dtypes;
};
inline constexpr std::array<NamedDTypeClass, 3> kDTypeClasses = {
    {{"Integer", DTypeClass::Integer},
     {"Float", DTypeClass::Float},
     {"Boolean", DTypeClass::Boolean}}};

inline std::optional<DTypeClass> parse_dtype_class(std::string_view name) {
  for (const NamedDTypeClass& each : kDTypeClasses) {
    if (each.name == name) return each.dtypes;
  }
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
