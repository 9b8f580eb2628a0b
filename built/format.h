#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lang/bytes.h"
#include "lang/expr.h"

// What writing and reading agree on. The bytes are:
//
//   header     kMagic; a number for the version; how many bytes there are in all; where the data
//              begin; a checksum of everything else: five words
//   tables     names, sources, type variables, data types, dims, types, fields of constructors,
//              attributes, variables, operators, tensors, patterns, expressions. Each begins with
//              how many entries there are. An entry is referred to by its number, and refers to
//              earlier tables and earlier entries only: what is read needs no second look
//   program    functions, references and cells, bindings, images
//   data       the elements of the large tensors, each at a multiple of kAlignment
namespace relay::built {

inline constexpr std::string_view kMagic = "RelayBlt";
inline constexpr std::size_t kHeaderSize = 40;
inline constexpr std::size_t kChecksumAt = 32;
inline constexpr std::size_t kAlignment = 64;
// Smaller tensors stand in their table, and are copied.
inline constexpr std::size_t kSmallestData = 1024;

// What nests deeper is refused: both sides recurse over these.
inline constexpr std::uint32_t kDeepestType = 5'000;
inline constexpr int kDeepestDim = 1'000;
inline constexpr int kDeepestAttr = 1'000;

// Follows from the version of the format, and from the names of what is written as a number: kinds
// of expressions, primitives, dtypes.
std::uint64_t version_number();
// Fails for bytes that cannot be those of a snapshot.
[[noreturn]] void fail_damaged();
// Of bytes with a header, its checksum left out.
std::uint64_t checksum_of(std::string_view bytes);

inline std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

// A division that is a factor of a dimension could not be carried out, and is this again when it is
// divided again.
bool is_one_atom(const lang::Dim& dim);

// Kinds of expressions whose make_ functions give the type and take none. Types of others are
// written as 0 for none, else a number one greater than the type's; of these as 0 for the type that
// was made, else as that number plus one.
inline bool has_made_type(lang::ExprKind kind) {
  return kind == lang::ExprKind::Var || kind == lang::ExprKind::Constant ||
         kind == lang::ExprKind::DimTerm;
}

enum class SourceTag : std::uint8_t { Text, Moved, kCount };
enum class DimTag : std::uint8_t { Any, Polynomial, kCount };
enum class AtomTag : std::uint8_t { Variable, Division, kCount };
enum class AttrTag : std::uint8_t {
  Null,
  False,
  True,
  Int,
  Float,
  Text,
  DType,
  List,
  Object,
  kCount
};
enum class OperatorTag : std::uint8_t { Registered, Effect, kCount };
enum class LiteralTag : std::uint8_t { Integer, Real, Tensor, kCount };
enum class CellTag : std::uint8_t { Tuple, Adt, kCount };
enum class ValueTag : std::uint8_t {
  Scalar,
  Tensor,
  Unit,
  Cell,
  Reference,
  Operator,
  Constructor,
  kCount
};

template <class Tag>
void write_tag(Tag tag, lang::ByteWriter& to) {
  to.byte(static_cast<std::uint8_t>(tag));
}
template <class Tag>
Tag read_tag(lang::ByteReader& from) {
  return static_cast<Tag>(from.byte_below(static_cast<std::size_t>(Tag::kCount)));
}

}  // namespace relay::built
