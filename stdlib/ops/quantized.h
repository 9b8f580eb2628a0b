#pragma once

#include <optional>

#include "stdlib/ops/families.h"

// What the operators on quantized tensors share. A quantized tensor stands for
// scale * (value - zero point); both are scalars, or vectors along a channel axis.
namespace relay::stdlib {

// They fall into three files: between numbers and quantized values; element by element; products.
void add_quantizing_operators();
void add_quantized_elementwise_operators();
void add_quantized_product_operators();
// relay.op.annotation.simulated_quantize.
void add_simulated_quantize();

// --- Types ---

// Argument `i` is a scalar of `dtype`.
void require_scalar(TypeCall& call, std::size_t i, DType dtype);
// Argument `i` is a scalar of `dtype`, or a vector of as many as there are channels (or of one).
// False while its rank is not known.
bool require_per_channel(TypeCall& call, std::size_t i, DType dtype, const Dim& channels);
// Arguments `scale` and `scale + 1` are a scale and a zero point, each for all or for each channel
// of data of this shape, whose axis attribute `key` names.
RuleOutcome channel_parameters_rule(TypeCall& call, const Shape& shape, std::size_t scale,
                                    const char* key, DType scale_dtype = DType::Float32);
// Throws DTypeMismatch where `dtype`, of the tensor called `what`, is known and none of `allowed`.
void require_dtype(const TypeCall& call, const char* what, const DTypeTerm& dtype,
                   const std::vector<DType>& allowed);
// Scales and zero points from argument `first` on, in turns, and scalars.
void require_scalar_parameters(TypeCall& call, std::size_t first);

// --- Definitions ---

// The element of a scale or zero point that belongs to element `i` of data whose channels are on
// `axis`.
Expr channel_value(const Expr& parameter, const Indices& i, std::size_t axis);
// The channel axis that attribute `key` names; 0 for a scalar.
std::size_t channel_axis(const AttrsRef& attrs, const char* key, std::size_t rank);
// Data less its zero point, in int32.
Expr without_zero_point(const Expr& data, const Expr& zero_point, std::size_t axis);
// An integer or float scalar as one of `dtype`, or the nearest it has; NaN as the largest.
Expr saturated(const Expr& scalar, DType dtype);
// A float64 factor as significand * 2^(exponent - 31), 2^30 <= |significand| < 2^31; both int64.
struct FixedPoint {
  Expr significand;
  Expr exponent;
};
FixedPoint fixed_point(const Expr& factor);
// `value`, an int64 scalar, times that factor, rounded: midpoints go up, or away from 0. Results
// beyond int32 stay beyond it.
Expr scaled(const Expr& value, const FixedPoint& factor, bool upward);

// `qnn.requantize` to int32.
struct Quantization {
  Expr scale;
  Expr zero_point;
};
Expr requantized(const Expr& data, const Quantization& from, const Quantization& to,
                 std::int64_t axis = -1);

}  // namespace relay::stdlib
