#pragma once

#include <cstddef>

#include "lang/value.h"
#include "tests/support/random.h"

// Values as points: what the properties of derivatives compute with them. The coordinates are the
// float64 elements; integers, booleans and constructors stay as they are.
namespace relay::tests {

std::size_t coordinate_count(const lang::Value& value);
// A direction at this value: each coordinate between -1 and 1.
lang::Value random_direction(const lang::Value& value, Random& random);
// The direction along one coordinate.
lang::Value unit_direction(const lang::Value& value, std::size_t coordinate);
// value + step * direction. They must have the same structure.
lang::Value moved(const lang::Value& value, const lang::Value& direction, double step);
// The inner product, and that of the magnitudes, which bounds the rounding. NaN if the structures
// differ.
double inner_product(const lang::Value& a, const lang::Value& b);
double inner_magnitude(const lang::Value& a, const lang::Value& b);

}  // namespace relay::tests
