#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lang/expr.h"
#include "lang/infix.h"
#include "lang/print_scopes.h"

// Private to the printer of light notation.
namespace relay::lang {

// How tightly a text holds together; an operand that is looser than its place gets parentheses.
enum Level { kEquality = 1, kComparison, kSum, kProduct, kPrefix, kBlock, kAtom };

// The text of an expression.
struct Piece {
  std::string text;
  Level level = kAtom;
  bool is_one_line() const { return text.find('\n') == std::string::npos; }
};

inline constexpr std::size_t kLongestInside = 56;  // of what stands inside something else
inline constexpr std::size_t kLongestLine = 80;

// The infix operator that is printed for an operator, or on scalars for a primitive; null if none
// is.
const Infix* printed_infix(std::string_view op);
const Infix* printed_infix(Prim prim);
Level level_of(const Infix& infix);

// The scalar constant, if it is one and finite.
const Constant* as_number(const Expr& expr);
Piece number_piece(std::string text);
// Without its dtype.
Piece plain_number(const Tensor& scalar);

// `{ body }` on one line where it fits behind `used` characters.
std::string braces(const std::string& body, std::size_t used);

// The words of the notation are no names.
void reserve_words(UniqueNames& names);

}  // namespace relay::lang
