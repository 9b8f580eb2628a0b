#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stdlib/ops/families.h"
#include "stdlib/ops/scalar.h"

// What resizing, grid sampling, regions of interest and deformable convolution share: reading
// tensors at positions between their elements. Extents are expressions, so that these definitions
// also serve derivatives, whose dims may be symbolic.
namespace relay::stdlib {

// The dtype in which values of `dtype` are interpolated: float32, or float64 for float64.
DType sampling_dtype(DType dtype);
// An extent as a number of `dtype`.
Scalar as_number(const Expr& extent, DType dtype);
// The value of an extent that is constant; nothing otherwise.
std::optional<std::int64_t> constant_of(const Expr& extent);

// for i0 < extents[0], ... { body(i) }: a tensor with these dims, of which the extents count where
// one is `?`.
Expr generate(const std::vector<Dim>& dims, const std::vector<Expr>& extents,
              const std::function<Expr(const Indices&)>& body);
// The same where the dims are the leading `count` axes of `like`.
Expr generate_over(const Expr& like, std::size_t count,
                   const std::function<Expr(const Indices&)>& body);

// `index` clamped to 0 .. extent - 1.
Scalar clamped(const Scalar& index, const Expr& extent);
// 0 <= index < extent.
Scalar is_within(const Scalar& index, const Expr& extent);
// Largest integer not above a number, as int64; for NaN and numbers beyond 2^30, which are never
// elements, -2^30 or 2^30.
Scalar floor_index(const Scalar& position);
// The number as an index: towards zero, with the same bounds.
Scalar to_index(const Scalar& position);
// Half away from zero.
Scalar round_away(const Scalar& position);

// The element of a short list of numbers at an int64 index.
Scalar pick(const std::vector<double>& values, const Scalar& index, DType dtype);
// a at t = 0, b at t = 1.
Scalar lerp(const Scalar& a, const Scalar& b, const Scalar& t);
// The weights of the four elements around a point that lies `t` behind the second one, for the
// cubic convolution with parameter `alpha` (Keys, 1981).
std::array<Scalar, 4> cubic_weights(const Scalar& t, double alpha);

// Which elements along one axis a point is made of, and with what weights, for points that are
// numbered by some leading indices: two tensors with one more axis, for the taps. A place of -1 is
// none.
struct Taps {
  Expr places;   // int64
  Expr weights;  // numbers; null where each tap counts as it is
};
struct Points {
  std::vector<Dim> dims;
  std::vector<Expr> extents;
  std::function<Scalar(const Indices&)> position;  // along the axis
};
struct TapRule {
  std::int64_t count;
  std::function<Scalar(const Scalar& position, const Scalar& tap)> place;
  std::function<Scalar(const Scalar& position, const Scalar& tap)> weight;  // may be empty
};
// Binds the positions and the taps around body.
Expr with_taps(const Points& points, const TapRule& rule,
               const std::function<Expr(const Taps&)>& body);
// Two neighbours by their distance. An element beyond the ends is none if `zero_outside`, else the
// last one.
TapRule linear_taps(const Expr& extent, bool zero_outside);
// tensor[index] where `places` are the indices of some axes: 0 where one of them is negative.
Scalar read_taps(const Expr& tensor, Indices index, const std::vector<std::size_t>& axes,
                 const std::vector<Scalar>& places);

// Checks that a string attribute is one of these; throws BadAttribute.
void check_one_of(const TypeCall& call, const char* key, std::initializer_list<const char*> known);

// The shape of an input that has this rank; throws RankMismatch if it has another. With `operands`:
// and a dtype that they accept.
Shape input_of_rank(TypeCall& call, std::size_t input, std::size_t rank);
Shape input_of_rank(TypeCall& call, std::size_t input, std::size_t rank, PrimOperands operands);
// Reading at positions needs something to read: throws ShapeMismatch where one of these axes of an
// input is known to have no elements.
void check_has_elements(const TypeCall& call, const Shape& shape,
                        const std::vector<std::size_t>& axes);

}  // namespace relay::stdlib
