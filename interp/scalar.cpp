#include "interp/scalar.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "interp/scalar_ops.h"

namespace relay::interp {

using lang::DType;
using lang::Prim;

namespace {

constexpr std::size_t kPrimCount = 0
#define RELAY_PRIMITIVE(name, text, arity, operands, result) +1
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
    ;

template <class T>
T from_word(std::uint64_t word) {
  T value;
  if constexpr (sizeof(T) == 1) value = std::bit_cast<T>(static_cast<std::uint8_t>(word));
  if constexpr (sizeof(T) == 2) value = std::bit_cast<T>(static_cast<std::uint16_t>(word));
  if constexpr (sizeof(T) == 4) value = std::bit_cast<T>(static_cast<std::uint32_t>(word));
  if constexpr (sizeof(T) == 8) value = std::bit_cast<T>(word);
  return value;
}

template <class T>
std::uint64_t to_word(T value) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}

template <Prim P, DType D>
std::uint64_t run(const std::uint64_t* args) {
  using Op = ops::Operation<P, D>;
  using T = typename Op::Operand;
  if constexpr (ops::arity_of(P) == 1) {
    return to_word(Op::apply(from_word<T>(args[0])));
  } else {
    return to_word(Op::apply(from_word<T>(args[0]), from_word<T>(args[1])));
  }
}

std::uint64_t select(const std::uint64_t* args) { return args[0] != 0 ? args[1] : args[2]; }

template <DType From, DType To>
std::uint64_t convert(const std::uint64_t* args) {
  using Op = ops::Conversion<From, To>;
  return to_word(Op::apply(from_word<typename Op::Operand>(args[0])));
}

template <Prim P, DType D>
constexpr ScalarFunction entry() {
  if constexpr (P == Prim::Select) return &select;
  if constexpr (P == Prim::Cast || !ops::takes(P, D)) return nullptr;
  if constexpr (P != Prim::Select && P != Prim::Cast && ops::takes(P, D)) return &run<P, D>;
  return nullptr;
}

using Row = std::array<ScalarFunction, lang::kDTypeCount>;

template <Prim P, std::size_t... D>
constexpr Row row(std::index_sequence<D...>) {
  return {entry<P, static_cast<DType>(D)>()...};
}
template <std::size_t... P>
constexpr std::array<Row, kPrimCount> table(std::index_sequence<P...>) {
  return {row<static_cast<Prim>(P)>(std::make_index_sequence<lang::kDTypeCount>())...};
}
template <DType From, std::size_t... To>
constexpr Row cast_row(std::index_sequence<To...>) {
  return {&convert<From, static_cast<DType>(To)>...};
}
template <std::size_t... From>
constexpr std::array<Row, lang::kDTypeCount> cast_table(std::index_sequence<From...>) {
  return {cast_row<static_cast<DType>(From)>(std::make_index_sequence<lang::kDTypeCount>())...};
}

constexpr auto kTable = table(std::make_index_sequence<kPrimCount>());
constexpr auto kCasts = cast_table(std::make_index_sequence<lang::kDTypeCount>());

}  // namespace

ScalarFunction scalar_function(Prim prim, DType operand) {
  return kTable[static_cast<std::size_t>(prim)][static_cast<std::size_t>(operand)];
}

std::optional<std::uint64_t> scalar_value(Prim prim, DType operand, DType result,
                                          const std::uint64_t* args) {
  const ScalarFunction function =
      prim == Prim::Cast ? scalar_cast(operand, result) : scalar_function(prim, operand);
  if (!function || (divides_integers(prim, operand) && args[1] == 0)) return std::nullopt;
  return function(args);
}

ScalarFunction scalar_cast(DType from, DType to) {
  return kCasts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

}  // namespace relay::interp
