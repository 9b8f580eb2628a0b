#include "interp/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "interp/lanes_loops.h"
#include "interp/lanes_ops.h"
#include "lang/tensor.h"

namespace {

using namespace relay;
using interp::scalar_cast;
using interp::scalar_function;
using lang::DType;
using lang::Prim;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double call(Prim prim, DType dtype, double a, double b = 0) {
  const std::uint64_t args[2] = {lang::bits_from_double(dtype, a),
                                 lang::bits_from_double(dtype, b)};
  const bool is_test = lang::info(prim).result == lang::PrimResult::kTruth;
  return lang::double_from_bits(is_test ? DType::Bool : dtype, scalar_function(prim, dtype)(args));
}

double convert(DType from, DType to, double a) {
  const std::uint64_t arg = lang::bits_from_double(from, a);
  return lang::double_from_bits(to, scalar_cast(from, to)(&arg));
}

// Numbers at which operations change their behaviour, and some in between.
std::vector<double> samples(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  if (lang::is_unsigned_int(dtype)) return {0, 1, 2, 3, 7, 8, 100, 127, 128, 255};
  if (lang::is_int(dtype)) return {0, 1, -1, 2, -2, 3, 7, -8, 31, 100, 127, -128, -127};
  return {0.0,  -0.0, 1,  -1,  0.5, -0.5, 1.5,  2.5,  -2.5,  3.7,
          -3.7, 1e-6, 88, -88, 1e4, -1e4, 6e-8, kInf, -kInf, kNan};
}

// The same value; any NaN is as good as another.
bool same(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  return lang::is_float(dtype) && std::isnan(lang::double_from_bits(dtype, a)) &&
         std::isnan(lang::double_from_bits(dtype, b));
}

}  // namespace

TEST_CASE("integer primitives wrap, and divide as documented", "[interp]") {
  CHECK(call(Prim::Add, DType::Int8, 127, 1) == -128);
  CHECK(call(Prim::Mul, DType::UInt8, 16, 17) == 16);
  CHECK(call(Prim::Neg, DType::Int8, -128) == -128);
  CHECK(call(Prim::Abs, DType::Int8, -128) == -128);
  CHECK(call(Prim::Div, DType::Int32, -7, 2) == -3);
  CHECK(call(Prim::Mod, DType::Int32, -7, 2) == -1);
  CHECK(call(Prim::FloorDiv, DType::Int32, -7, 2) == -4);
  CHECK(call(Prim::FloorMod, DType::Int32, -7, 2) == 1);
  CHECK(call(Prim::FloorMod, DType::Int32, 7, -2) == -1);
  CHECK(call(Prim::Div, DType::Int8, -128, -1) == -128);
  CHECK(call(Prim::Mod, DType::Int8, -128, -1) == 0);
  CHECK(call(Prim::Pow, DType::Int32, 3, 4) == 81);
  CHECK(call(Prim::Pow, DType::Int32, 2, -1) == 0);
  CHECK(call(Prim::Pow, DType::Int32, -1, -3) == -1);
  CHECK(call(Prim::Shl, DType::Int32, 1, 33) == 2);
  CHECK(call(Prim::Shr, DType::Int32, -8, 1) == -4);
  CHECK(call(Prim::Shr, DType::UInt8, 255, 9) == 127);
  CHECK(call(Prim::Not, DType::Bool, 1) == 0);
}

TEST_CASE("float primitives at their corners", "[interp]") {
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    CHECK(std::isnan(call(Prim::Max, dtype, kNan, 1)));
    CHECK(std::isnan(call(Prim::Min, dtype, 1, kNan)));
    CHECK(call(Prim::Round, dtype, 2.5) == 2);
    CHECK(std::signbit(call(Prim::Sign, dtype, -0.0)));
    CHECK(std::isnan(call(Prim::Sign, dtype, kNan)));
    CHECK(call(Prim::FloorMod, dtype, -3, 2) == 1);
    CHECK(call(Prim::Mod, dtype, -3, 2) == -1);
    CHECK(call(Prim::FloorDiv, dtype, -3, 2) == -2);
    CHECK(call(Prim::IsInf, dtype, -kInf) == 1);
    CHECK(call(Prim::IsFinite, dtype, kNan) == 0);
    CHECK(call(Prim::Ne, dtype, kNan, kNan) == 1);
    CHECK(call(Prim::Div, dtype, 1, 0) == kInf);
  }
  // Rounded after every primitive: 2049 is no half.
  CHECK(call(Prim::Add, DType::Float16, 2048, 1) == 2048);
  CHECK(call(Prim::Mul, DType::Float16, 65504, 2) == kInf);
}

TEST_CASE("casts saturate", "[interp]") {
  CHECK(convert(DType::Float32, DType::Int8, 300) == 127);
  CHECK(convert(DType::Float32, DType::Int8, -300) == -128);
  CHECK(convert(DType::Float32, DType::UInt8, -3) == 0);
  CHECK(convert(DType::Float64, DType::Int32, kNan) == 0);
  CHECK(convert(DType::Float64, DType::Int32, -3.9) == -3);
  CHECK(convert(DType::Float32, DType::Int64, 1e30) == 0x1p63);
  CHECK(convert(DType::Float32, DType::Bool, 0.25) == 1);
  CHECK(convert(DType::Int32, DType::UInt8, -1) == 255);
  CHECK(convert(DType::Int64, DType::Float16, 100000) == kInf);
}

TEST_CASE("halves convert like lang's, in both directions", "[interp]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = lang::half_to_float(half);
    const float ours = interp::ops::half_to_float(half);
    const bool good =
        value != value ? ours != ours
                       : std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(ours);
    if (!good) FAIL("half " << bits);
  }
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 997) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (value != value) continue;
    if (interp::ops::float_to_half(value) != lang::float_to_half(value)) FAIL("to half: " << value);
    if (interp::ops::float_to_bfloat16(value) != lang::float_to_bfloat16(value))
      FAIL("to bfloat16: " << value);
  }
}

// Every primitive, at every dtype, with every kind of operand: the loops of all generations of CPU
// that this machine has give the bits of the scalar functions.
TEST_CASE("lanes give the bits of scalars at every level", "[interp]") {
  const auto levels = static_cast<std::size_t>(interp::ops::cpu_level());
  for (int d = 0; d < lang::kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    const std::size_t size = lang::size_of(dtype);
    // All pairs, so that whole vectors and rests occur.
    std::vector<std::uint64_t> a;
    std::vector<std::uint64_t> b;
    for (double x : samples(dtype)) {
      for (double y : samples(dtype)) {
        a.push_back(lang::bits_from_double(dtype, x));
        b.push_back(lang::bits_from_double(dtype, y));
      }
    }
    const auto n = static_cast<std::int64_t>(a.size());
    const auto packed = [&](const std::vector<std::uint64_t>& words) {
      std::vector<std::byte> bytes(words.size() * size);
      for (std::size_t i = 0; i < words.size(); ++i)
        std::memcpy(bytes.data() + i * size, &words[i], size);
      return bytes;
    };
    for (std::size_t p = 0; p < interp::ops::kPrimCount; ++p) {
      const auto prim = static_cast<Prim>(p);
      const auto scalar = scalar_function(prim, dtype);
      if (!scalar || prim == Prim::Select) continue;
      const bool is_test = lang::info(prim).result == lang::PrimResult::kTruth;
      const DType result = is_test ? DType::Bool : dtype;
      const bool divides = interp::divides_integers(prim, dtype);
      for (std::size_t level = 0; level <= levels; ++level) {
        for (unsigned uniform = 0; uniform < (lang::info(prim).arity == 2 ? 3u : 1u); ++uniform) {
          INFO(lang::info(prim).text << " " << lang::name_of(dtype) << " level " << level
                                     << " uniform " << uniform);
          const auto x = packed(a);
          auto words = b;
          if (divides) std::replace(words.begin(), words.end(), std::uint64_t{0}, std::uint64_t{3});
          const auto y = packed(words);
          std::vector<std::byte> out(a.size() * 8);
          const std::size_t at = 5;  // the uniform operand's element
          interp::LaneFunction function = nullptr;
          switch (dtype) {
            case DType::Float32:
              function = interp::ops::loops_float32().primitives[level][p][uniform];
              break;
            case DType::Float64:
              function = interp::ops::loops_float64().primitives[level][p][uniform];
              break;
            case DType::Float16:
            case DType::BFloat16:
              function = interp::ops::loops_half(dtype).primitives[level][p][uniform];
              break;
            case DType::Int32:
            case DType::Int64:
            case DType::UInt32:
            case DType::UInt64:
              function = interp::ops::loops_int(dtype).primitives[level][p][uniform];
              break;
            default:
              function = interp::ops::loops_small_int(dtype).primitives[level][p][uniform];
              break;
          }
          const std::size_t u = std::min(at, a.size() - 1);
          const bool good = function(out.data(), uniform == 1 ? x.data() + u * size : x.data(),
                                     uniform == 2 ? y.data() + u * size : y.data(), nullptr, n);
          CHECK(good);
          bool all_same = true;
          for (std::size_t i = 0; i < a.size(); ++i) {
            const std::uint64_t args[2] = {a[uniform == 1 ? u : i], words[uniform == 2 ? u : i]};
            std::uint64_t found = 0;
            std::memcpy(&found, out.data() + i * lang::size_of(result), lang::size_of(result));
            all_same = all_same && same(result, found, scalar(args));
          }
          CHECK(all_same);
        }
      }
    }
  }
}

TEST_CASE("lanes notice a division by zero", "[interp]") {
  const std::vector<std::int32_t> a(100, 7);
  std::vector<std::int32_t> b(100, 2);
  std::vector<std::int32_t> out(100);
  const auto divide = interp::lane_primitive(Prim::Div, DType::Int32, 0);
  CHECK(divide(out.data(), a.data(), b.data(), nullptr, 100));
  CHECK(out[99] == 3);
  b[61] = 0;
  CHECK_FALSE(divide(out.data(), a.data(), b.data(), nullptr, 100));
  const std::int32_t zero = 0;
  CHECK_FALSE(interp::lane_primitive(Prim::FloorMod, DType::Int32, 2)(out.data(), a.data(), &zero,
                                                                      nullptr, 100));
}
