#include <algorithm>

#include "loops/kernel_builder.h"

// Primitives that index forms and ranges decide without an instruction.
namespace relay::loops {

// An index from another integer dtype: its values bound it.
std::optional<KernelBuilder::Operand> KernelBuilder::cast_to_index(const Operand& operand) {
  const DType from = draft_.values[static_cast<std::size_t>(operand.value)].dtype;
  const int bits = lang::bits_of(from);
  if (lang::is_float(from) || bits > 32) return std::nullopt;
  IndexRange range{0, (std::int64_t{1} << bits) - 1};
  if (lang::is_signed_int(from))
    range = {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return operand_of(emit_primitive(Prim::Cast, DType::Int64, {operand.value}), range);
}

// int64 arithmetic whose result is an index form, or whose range is known.
std::optional<KernelBuilder::Operand> KernelBuilder::index_primitive(
    Prim prim, std::span<const Operand> args) {
  const auto form = [](IndexExpr index) {
    Operand operand;
    operand.is_index = true;
    operand.index = std::move(index);
    return operand;
  };
  const auto ranged = [&](std::int64_t low, std::int64_t high) {
    std::vector<ValueId> values;
    for (const Operand& arg : args) values.push_back(value_of(arg));
    return operand_of(emit_primitive(prim, DType::Int64, std::move(values)), IndexRange{low, high});
  };
  IndexSpace& space = draft_.space;
  if (prim == Prim::Cast) return cast_to_index(args[0]);
  if (args.empty() || !args.back().is_index) return std::nullopt;
  if (prim == Prim::Neg) return form(args[0].index * -1);
  if (prim == Prim::Select) {
    const auto a = space.range(args[1].index);
    const auto b = space.range(args[2].index);
    if (args[1].index == args[2].index) return args[1];
    if (!a || !b) return std::nullopt;
    return ranged(std::min(a->low, b->low), std::max(a->high, b->high));
  }
  if (args.size() != 2 || !args[0].is_index) return std::nullopt;
  const IndexExpr& a = args[0].index;
  const IndexExpr& b = args[1].index;
  switch (prim) {
    case Prim::Add:
      return form(a + b);
    case Prim::Sub:
      return form(a - b);
    case Prim::Mul:
      if (b.is_constant()) return form(a * b.constant);
      if (a.is_constant()) return form(b * a.constant);
      return std::nullopt;
    case Prim::Div:
    case Prim::Mod:
    case Prim::FloorDiv:
    case Prim::FloorMod: {
      if (!b.is_constant() || b.constant <= 0) return std::nullopt;
      const auto range = space.range(a);
      const bool is_floor = prim == Prim::FloorDiv || prim == Prim::FloorMod;
      if (!range || (!is_floor && range->low < 0)) return std::nullopt;
      const bool is_quotient = prim == Prim::Div || prim == Prim::FloorDiv;
      auto result = is_quotient ? space.floor_div(a, b.constant) : space.floor_mod(a, b.constant);
      if (!result) return std::nullopt;
      return form(std::move(*result));
    }
    case Prim::Min:
    case Prim::Max: {
      const auto difference = space.range(a - b);
      const bool is_min = prim == Prim::Min;
      if (difference && difference->high <= 0) return is_min ? args[0] : args[1];
      if (difference && difference->low >= 0) return is_min ? args[1] : args[0];
      const IndexRange x = space.loose_range(a);
      const IndexRange y = space.loose_range(b);
      return is_min ? ranged(std::min(x.low, y.low), std::min(x.high, y.high))
                    : ranged(std::max(x.low, y.low), std::max(x.high, y.high));
    }
    default:
      return std::nullopt;
  }
}

// Comparisons of indices whose outcome the ranges decide.
std::optional<KernelBuilder::Operand> KernelBuilder::comparison(Prim prim, const Operand& a,
                                                                const Operand& b) {
  if (!a.is_index || !b.is_index) return std::nullopt;
  if (!draft_.space.range(a.index) || !draft_.space.range(b.index)) return std::nullopt;
  const auto range = draft_.space.range(a.index - b.index);
  if (!range) return std::nullopt;
  std::optional<bool> truth;
  const auto decide = [&](bool is_true, bool is_false) {
    if (is_true) truth = true;
    if (is_false) truth = false;
  };
  switch (prim) {
    case Prim::Lt:
      decide(range->high < 0, range->low >= 0);
      break;
    case Prim::Le:
      decide(range->high <= 0, range->low > 0);
      break;
    case Prim::Gt:
      decide(range->low > 0, range->high <= 0);
      break;
    case Prim::Ge:
      decide(range->low >= 0, range->high < 0);
      break;
    case Prim::Eq:
      decide(range->low == 0 && range->high == 0, range->low > 0 || range->high < 0);
      break;
    case Prim::Ne:
      decide(range->low > 0 || range->high < 0, range->low == 0 && range->high == 0);
      break;
    default:
      break;
  }
  if (!truth) return std::nullopt;
  return operand_of(constant(DType::Bool, *truth ? 1 : 0));
}

// `and`, `or`, `not` of what is known.
std::optional<KernelBuilder::Operand> KernelBuilder::logic(Prim prim,
                                                           std::span<const Operand> args) {
  if (prim == Prim::Not) {
    const auto value = constant_bits(args[0]);
    if (!value) return std::nullopt;
    return operand_of(constant(DType::Bool, *value != 0 ? 0 : 1));
  }
  if (prim != Prim::And && prim != Prim::Or) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto value = constant_bits(args[i]);
    if (!value) continue;
    const bool decides = (*value != 0) == (prim == Prim::Or);
    return decides ? args[i] : args[1 - i];
  }
  return std::nullopt;
}

}  // namespace relay::loops
