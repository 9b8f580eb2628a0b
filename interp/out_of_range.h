#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/diagnostic.h"

namespace relay::interp {

// What a read out of range is told as, by a kernel or point by point.
lang::Diagnostic index_out_of_range(std::int64_t index, std::size_t axis,
                                    const std::vector<std::int64_t>& shape, lang::Span span);

}  // namespace relay::interp
