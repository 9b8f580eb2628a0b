#include "lang/primitive.h"

#include <array>

namespace relay::lang {
namespace {

constexpr PrimOperands kNumeric = PrimOperands::kNumeric;
constexpr PrimOperands kFloat = PrimOperands::kFloat;
constexpr PrimOperands kInt = PrimOperands::kInt;
constexpr PrimOperands kBits = PrimOperands::kBits;
constexpr PrimOperands kAnyDType = PrimOperands::kAnyDType;
constexpr PrimResult kSame = PrimResult::kSame;
constexpr PrimResult kTruth = PrimResult::kTruth;
constexpr PrimResult kOwn = PrimResult::kOwn;

constexpr PrimInfo kPrimitives[] = {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) {text, arity, operands, result},
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
};

constexpr std::array<std::string_view, 10> kReduceOps = {"sum", "prod",   "max",    "min", "all",
                                                         "any", "argmax", "argmin", "dot", "set"};

}  // namespace

const PrimInfo& info(Prim prim) { return kPrimitives[static_cast<std::size_t>(prim)]; }

std::optional<Prim> parse_prim(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kPrimitives); ++i) {
    if (kPrimitives[i].text == text) return static_cast<Prim>(i);
  }
  return std::nullopt;
}

bool accepts(PrimOperands operands, DType dtype) {
  switch (operands) {
    case PrimOperands::kNumeric:
      return dtype != DType::Bool;
    case PrimOperands::kFloat:
      return is_float(dtype);
    case PrimOperands::kInt:
      return is_int(dtype);
    case PrimOperands::kBool:
      return dtype == DType::Bool;
    case PrimOperands::kBits:
      return !is_float(dtype);
    case PrimOperands::kAnyDType:
      return true;
  }
  return false;
}

std::string_view name_of(ReduceOp op) { return kReduceOps[static_cast<std::size_t>(op)]; }

std::optional<ReduceOp> parse_reduce_op(std::string_view text) {
  for (std::size_t i = 0; i < kReduceOps.size(); ++i) {
    if (kReduceOps[i] == text) return static_cast<ReduceOp>(i);
  }
  return std::nullopt;
}

bool is_scatter_op(ReduceOp op) {
  return op == ReduceOp::Sum || op == ReduceOp::Prod || op == ReduceOp::Max ||
         op == ReduceOp::Min || op == ReduceOp::Set;
}

}  // namespace relay::lang
