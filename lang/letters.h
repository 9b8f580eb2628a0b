#pragma once

#include <cstddef>
#include <string_view>

// What names are made of: letters, digits and `_`. Letters are those of ASCII, and the Greek ones
// that nobody takes for Latin ones (`Α` and `ο` are none), in UTF-8.
namespace relay::lang {

constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_greek_letter(unsigned code_point) {
  constexpr unsigned kAlpha = 0x3B1, kOmicron = 0x3BF, kOmega = 0x3C9;
  if (code_point >= kAlpha && code_point <= kOmega) return code_point != kOmicron;
  for (const unsigned other :
       {0x393, 0x394, 0x398, 0x39B, 0x39E, 0x3A0, 0x3A3, 0x3A6, 0x3A8,  // ΓΔΘΛΞΠΣΦΨ
        0x3A9, 0x3D1, 0x3D5, 0x3D6, 0x3F0, 0x3F1, 0x3F5}) {             // Ωϑϕϖϰϱϵ
    if (code_point == other) return true;
  }
  return false;
}

// How many bytes the letter or `_` has with which `text` begins; 0 if it begins with none.
constexpr std::size_t letter_length(std::string_view text) {
  if (text.empty()) return 0;
  if (is_ascii_letter(text[0]) || text[0] == '_') return 1;
  if (text.size() < 2) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  constexpr unsigned kLead = 0xC0, kLeadMask = 0xE0, kNext = 0x80, kNextMask = 0xC0;
  if ((first & kLeadMask) != kLead || (second & kNextMask) != kNext) return 0;
  const unsigned code_point = ((first & ~kLeadMask) << 6U) | (second & ~kNextMask);
  return is_greek_letter(code_point) ? 2 : 0;
}

// The same of a letter, a digit or `_`.
constexpr std::size_t word_length(std::string_view text) {
  return !text.empty() && is_digit(text[0]) ? 1 : letter_length(text);
}

// Likewise of the one with which `text` ends.
constexpr std::size_t word_length_at_end(std::string_view text) {
  if (text.empty()) return 0;
  if (word_length(text.substr(text.size() - 1)) == 1) return 1;
  return text.size() >= 2 && letter_length(text.substr(text.size() - 2)) == 2 ? 2 : 0;
}

// May this byte stand in a name? Exact for names; of other texts it takes all that is not ASCII.
constexpr bool is_word_byte(char c) {
  constexpr unsigned char kFirstOther = 0x80;
  return is_ascii_letter(c) || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= kFirstOther;
}

// Is it written as the name of something is, with its dots and its sigil?
constexpr bool is_written_as_name(std::string_view text) {
  for (const char c : text) {
    if (!is_word_byte(c) && c != '.' && c != '@' && c != '%') return false;
  }
  return !text.empty();
}

}  // namespace relay::lang
