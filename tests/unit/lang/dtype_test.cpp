#include "lang/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "lang/primitive.h"
#include "lang/tensor.h"

using namespace relay::lang;

TEST_CASE("every dtype's name reads back") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    CHECK(parse_dtype(name_of(dtype)) == dtype);
  }
  CHECK(parse_dtype("uint1") == DType::Bool);
  CHECK_FALSE(parse_dtype("float8"));
  CHECK(bits_of(DType::Bool) == 1);
  CHECK(size_of(DType::BFloat16) == 2);
}

TEST_CASE("every half and bfloat16 survives the way through float") {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const bool half_nan = (bits & 0x7fff) > 0x7c00;
    const bool brain_nan = (bits & 0x7fff) > 0x7f80;
    const std::uint16_t half = float_to_half(half_to_float(bits));
    const std::uint16_t brain = float_to_bfloat16(bfloat16_to_float(bits));
    wrong += half_nan ? (half & 0x7fff) <= 0x7c00 : half != bits;
    wrong += brain_nan ? (brain & 0x7fff) <= 0x7f80 : brain != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two halves the nearer wins, a tie goes to the even one") {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 0x7bff; ++i) {  // positive finite, and its successor
    const float low = half_to_float(static_cast<std::uint16_t>(i));
    const float high = half_to_float(static_cast<std::uint16_t>(i + 1));
    const float middle = low + (high - low) / 2;  // exact
    wrong += float_to_half(std::nextafter(middle, 0.0f)) != i;
    wrong += float_to_half(std::nextafter(middle, high)) != i + 1;
    wrong += float_to_half(middle) != (i % 2 == 0 ? i : i + 1);
    wrong += float_to_half(-middle) != (0x8000 | (i % 2 == 0 ? i : i + 1));
  }
  CHECK(wrong == 0);
  CHECK(float_to_half(65519.99f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(0x1p-25f) == 0);
  CHECK(float_to_half(std::nextafter(0x1p-25f, 1.0f)) == 1);
  CHECK(float_to_half(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(float_to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
}

TEST_CASE("numbers are rounded once on their way to an element") {
  // Just above the middle of 1 and its successor: rounding to float first would make it a tie.
  CHECK(bits_from_double(DType::Float16, 1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(bits_from_double(DType::Float16, 1 + 0x1p-11) == 0x3c00);
  CHECK(bits_from_double(DType::BFloat16, -(1 + 0x1p-8 + 0x1p-40)) == 0xbf81);
  CHECK(bits_from_double(DType::Float16, 1e300) == 0x7c00);
  CHECK(bits_from_double(DType::Float16, 1e-300) == 0);
  CHECK(std::isnan(double_from_bits(DType::Float16, bits_from_double(DType::Float16, NAN))));
  const std::int64_t above_tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  CHECK(double_from_bits(DType::BFloat16, bits_from_int(DType::BFloat16, above_tie)) ==
        0x1p62 + 0x1p55);
  CHECK(double_from_bits(DType::BFloat16, bits_from_int(DType::BFloat16, above_tie - 1)) == 0x1p62);
}

TEST_CASE("integers wrap from integers and are held at their range from floats") {
  CHECK(bits_from_int(DType::Int8, -1) == 0xff);
  CHECK(int_from_bits(DType::Int8, 0xff) == -1);
  CHECK(bits_from_int(DType::UInt16, 65537) == 1);
  CHECK(bits_from_double(DType::Int32, -1.9) == 0xffffffff);
  CHECK(int_from_bits(DType::Int32, bits_from_double(DType::Int32, 1e10)) == 2147483647);
  CHECK(int_from_bits(DType::Int32, bits_from_double(DType::Int32, -1e10)) == -2147483648);
  CHECK(bits_from_double(DType::UInt8, -3.0) == 0);
  CHECK(bits_from_double(DType::UInt64, 1e30) == ~std::uint64_t{0});
  CHECK(bits_from_double(DType::Int64, NAN) == 0);
  CHECK(bits_from_double(DType::Int64, -0x1p63) == std::uint64_t{1} << 63);
  CHECK(double_from_bits(DType::UInt64, ~std::uint64_t{0}) == 0x1p64);
  CHECK(bits_from_double(DType::Bool, 0.5) == 1);
}

TEST_CASE("primitives and reductions are found by their text") {
  CHECK(parse_prim("floor_div") == Prim::FloorDiv);
  CHECK(info(Prim::Select).arity == 3);
  CHECK(info(Prim::Lt).result == PrimResult::kTruth);
  CHECK_FALSE(parse_prim("no_such"));
  CHECK(parse_reduce_op("argmin") == ReduceOp::ArgMin);
  CHECK(name_of(ReduceOp::Prod) == "prod");
  CHECK(accepts(PrimOperands::kBits, DType::Bool));
  CHECK_FALSE(accepts(PrimOperands::kNumeric, DType::Bool));
  CHECK_FALSE(accepts(PrimOperands::kFloat, DType::Int32));
}
