#include "parser/scan.h"

#include <algorithm>
#include <array>

#include "lang/primitive.h"

namespace relay::parser::grammar {
namespace {

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  for (const std::string_view candidate : words) {
    if (candidate == word) return true;
  }
  return false;
}

// `inff`, `nanf16`: what cannot be written with digits.
const char* scan_special(const char* begin, const char* end) {
  if (end - begin < 4) return nullptr;
  const std::string_view word = scan_name(begin, end, false);
  if (!word.starts_with("inff") && !word.starts_with("nanf")) return nullptr;
  const std::string_view width = word.substr(4);
  const bool known = width.empty() || width == "16" || width == "32" || width == "64";
  return known ? begin + word.size() : nullptr;
}

}  // namespace

bool is_keyword(std::string_view word, bool strict) {
  constexpr std::array<std::string_view, 12> kStrict = {
      "let",   "fn",     "def",      "if",  "else",     "type",
      "match", "extern", "free_var", "ref", "ref_read", "ref_write"};
  constexpr std::array<std::string_view, 2> kLight = {"for", "import"};
  if (word.size() < 2 || word.size() > 9) return false;
  return contains(kStrict, word) || (!strict && contains(kLight, word));
}

bool is_reduction(std::string_view word) {
  return word.size() >= 3 && word.size() <= 6 && lang::parse_reduce_op(word).has_value();
}

const char* scan_strict_number(const char* begin, const char* end) {
  const char* q = begin;
  while (q != end && *q == '-') ++q;
  if (q == end) return nullptr;
  if (!is_digit(*q)) return lang::is_ascii_letter(*q) ? scan_special(q, end) : nullptr;
  const auto swallow = [&] {
    while (q != end &&
           (is_digit(*q) || *q == '.' || *q == 'e' || *q == 'E' || *q == '+' || *q == '-'))
      ++q;
  };
  swallow();
  if (q != end && (*q == 'f' || *q == 'i')) {
    ++q;
    swallow();
  }
  return q;
}

const char* scan_light_number(const char* begin, const char* end) {
  const char* q = begin;
  if (q == end) return nullptr;
  if (lang::is_ascii_letter(*q)) return scan_special(q, end);
  if (!is_digit(*q)) return nullptr;
  const auto digits = [&] {
    while (q != end && is_digit(*q)) ++q;
  };
  digits();
  if (end - q >= 2 && q[0] == '.' && is_digit(q[1])) {
    ++q;
    digits();
  }
  if (q != end && (*q == 'e' || *q == 'E')) {
    const char* exponent = q + 1;
    if (exponent != end && (*exponent == '+' || *exponent == '-')) ++exponent;
    if (exponent != end && is_digit(*exponent)) {
      q = exponent;
      digits();
    }
  }
  q = scan_word(q, end);  // a suffix, good or bad
  const bool has_point = std::find(begin, q, '.') != q;
  while (has_point && end - q >= 2 && q[0] == '.' && is_digit(q[1])) {  // `1.5.3` is one bad number
    q = scan_word(q + 1, end);
  }
  return q;
}

const char* scan_infix(const char* begin, const char* end, bool strict) {
  if (begin == end) return nullptr;
  const char next = end - begin > 1 ? begin[1] : '\0';
  switch (*begin) {
    case '*':
    case '/':
    case '+':
      return begin + 1;
    case '%':  // after an operand no name with its sigil can stand
    case '@':
      return strict ? nullptr : begin + 1;
    case '<':
    case '>':
      return next == '=' ? begin + 2 : begin + 1;
    case '=':
    case '!':
      return next == '=' ? begin + 2 : nullptr;
    case '&':
      return !strict && next == '&' ? begin + 2 : nullptr;
    case '|':
      return !strict && next == '|' ? begin + 2 : nullptr;
    case '-':
      if (next == '>') return nullptr;
      return strict && scan_strict_number(begin, end) ? nullptr : begin + 1;
    default:
      return nullptr;
  }
}

}  // namespace relay::parser::grammar
