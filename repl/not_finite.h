#pragma once

#include <cstdint>

#include "lang/value.h"

namespace relay::repl {

struct NotFinite {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;  // of both signs
};

// In all tensors and scalars of a value. Cost: a look at each element.
NotFinite count_not_finite(const lang::Value& value);

}  // namespace relay::repl
