#pragma once

#include <cstddef>
#include <string_view>

// Where tokens end. The grammar's rules are made of these, and so is whatever reads a text without
// parsing it.
namespace relay::parser::grammar {

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word(char c) { return is_letter(c) || is_digit(c); }

bool is_keyword(std::string_view word, bool strict);
bool is_reduction(std::string_view word);

// The name at `begin`: letters, digits, `_`, and in strict text `/`. Empty if there is none.
inline std::string_view scan_name(const char* begin, const char* end, bool strict) {
  if (begin == end || !is_letter(*begin)) return {};
  const char* q = begin + 1;
  while (q != end &&
         (is_word(*q) || (strict && *q == '/' && !(end - q > 1 && (q[1] == '/' || q[1] == '*')))))
    ++q;
  return {begin, static_cast<std::size_t>(q - begin)};
}

const char* scan_strict_number(const char* begin, const char* end);
const char* scan_light_number(const char* begin, const char* end);

// An infix operator. In strict text a minus right before a digit belongs to the number.
const char* scan_infix(const char* begin, const char* end, bool strict);

}  // namespace relay::parser::grammar
