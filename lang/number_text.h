#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/dtype.h"

namespace relay::lang {

// What is said of `.5`, `5.` and `5.e3`, which are no numbers here.
inline constexpr std::string_view kDigitsAroundPoint =
    "help: a number has digits on both sides of its point";

// The fewest digits that read back to the same element of the float dtype: `1.5`, `1e-05`, `inf`,
// `-inf`, `nan`. An exponent stands where the number is below 1e-4 or from 1e16. With `point`, what
// would look like an integer gets `.0`.
std::string float_text(DType dtype, std::uint64_t bits, bool point);

// An element in plain decimal, without a suffix: `True`, `-3`, `1.5`, `1.0`.
std::string element_text(DType dtype, std::uint64_t bits);

}  // namespace relay::lang
