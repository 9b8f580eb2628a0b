#pragma once

#include <cstddef>
#include <string_view>

#include "lang/letters.h"

// Where tokens end. The grammar's rules are made of these, and so is whatever reads a text without
// parsing it.
namespace relay::parser::grammar {

using lang::is_digit;

// Behind the letters, digits and `_` at `begin`.
inline const char* scan_word(const char* begin, const char* end) {
  for (;;) {
    const std::size_t length = lang::word_length({begin, static_cast<std::size_t>(end - begin)});
    if (length == 0) return begin;
    begin += length;
  }
}

bool is_keyword(std::string_view word, bool strict);
bool is_reduction(std::string_view word);

// The name at `begin`: letters, digits, `_`, and in strict text `/`. Empty if there is none.
inline std::string_view scan_name(const char* begin, const char* end, bool strict) {
  if (lang::letter_length({begin, static_cast<std::size_t>(end - begin)}) == 0) return {};
  const char* q = scan_word(begin, end);
  while (strict && q != end && *q == '/' && !(end - q > 1 && (q[1] == '/' || q[1] == '*')))
    q = scan_word(q + 1, end);
  return {begin, static_cast<std::size_t>(q - begin)};
}

const char* scan_strict_number(const char* begin, const char* end);
const char* scan_light_number(const char* begin, const char* end);

// An infix operator. In strict text a minus right before a digit belongs to the number.
const char* scan_infix(const char* begin, const char* end, bool strict);

}  // namespace relay::parser::grammar
