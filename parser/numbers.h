#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/diagnostic.h"
#include "lang/dtype.h"

namespace relay::parser {

// What the text of a number stands for.
struct NumberValue {
  std::optional<lang::DType> dtype;  // none: undecorated, light notation only
  std::uint64_t bits = 0;            // with dtype
  bool is_float = false;
  std::int64_t integer = 0;
  double real = 0;
};

// `negative`: a minus stood before it (the light notation's numbers have no sign of their own).
// Throws Failure: BadNumber, LiteralOutOfRange.
NumberValue read_number(std::string_view text, bool negative, bool strict, lang::Span span);

// Digits only, as in shapes and projections. Throws Failure(LiteralOutOfRange).
std::int64_t read_digits(std::string_view text, lang::Span span);

}  // namespace relay::parser
