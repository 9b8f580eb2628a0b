#include "lang/utf8.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace relay::lang {

std::size_t code_point_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t length = 0;
  if (lead < 0x80) length = 1;
  if (lead >= 0xc2 && lead < 0xe0) length = 2;
  if (lead >= 0xe0 && lead < 0xf0) length = 3;
  if (lead >= 0xf0 && lead < 0xf5) length = 4;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(std::max<std::size_t>(code_point_length(text), 1));
  }
  return count;
}

namespace {

char32_t code_point(std::string_view text, std::size_t length) {
  constexpr int kTailBits = 6;
  const auto lead = static_cast<unsigned char>(text[0]);
  char32_t value = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i)
    value = value << kTailBits | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return value;
}

bool steers(char32_t c) {
  const bool is_control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool turns =
      c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return is_control || turns || c == 0x2028 || c == 0x2029;
}

template <class Keeps>
std::string escaped(std::string_view text, Keeps keeps) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    const std::string_view piece = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(piece.size());
    if (!lang::is_obeyed(piece) || keeps(piece[0])) {
      out += piece;
    } else if (piece == "\n") {
      out += "\\n";
    } else if (piece == "\t") {
      out += "\\t";
    } else if (piece.size() == 1) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(piece[0]));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code_point(piece, length)));
    }
  }
  return out;
}

}  // namespace

bool is_obeyed(std::string_view text) {
  const std::size_t length = code_point_length(text);
  return length == 0 || steers(code_point(text, length));
}

std::string printable(std::string_view text) {
  return escaped(text, [](char c) { return c == '\n' || c == '\t'; });
}

std::string printable_line(std::string_view text) {
  return escaped(text, [](char) { return false; });
}

}  // namespace relay::lang
