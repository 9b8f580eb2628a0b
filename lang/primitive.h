#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/dtype.h"

namespace relay::lang {

// The scalar primitives; lang/primitives.def says what each computes.
enum class Prim : std::uint8_t {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) name,
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
};

enum class PrimOperands : std::uint8_t { kNumeric, kFloat, kInt, kBool, kBits, kAnyDType };
enum class PrimResult : std::uint8_t { kSame, kTruth, kOwn };

struct PrimInfo {
  std::string_view text;
  std::uint8_t arity;
  PrimOperands operands;
  PrimResult result;
};
const PrimInfo& info(Prim prim);
std::optional<Prim> parse_prim(std::string_view text);
bool accepts(PrimOperands operands, DType dtype);

// What a reduction folds with. ArgMax and ArgMin give the int64 index (row-major over the
// reduction's variables) of the first extreme element; NaN counts as extreme. Max/Min over nothing
// is an error; Sum is 0, Prod 1, All true, Any false. Dot takes pairs of floats, and adds the
// product of each with one rounding (fused multiply-add). Set, of scatters only, replaces what is
// there: the last one counts.
enum class ReduceOp : std::uint8_t { Sum, Prod, Max, Min, All, Any, ArgMax, ArgMin, Dot, Set };
std::string_view name_of(ReduceOp op);  // "sum"
std::optional<ReduceOp> parse_reduce_op(std::string_view text);
// May a scatter fold with it?
bool is_scatter_op(ReduceOp op);

}  // namespace relay::lang
