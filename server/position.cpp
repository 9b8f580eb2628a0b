#include "server/position.h"

#include <algorithm>

#include "lang/utf8.h"

namespace relay::server {

namespace {

// Bytes of the character at the start of `text`; a byte that is no UTF-8 is one of its own.
std::size_t length_at(std::string_view text) {
  return std::max<std::size_t>(lang::code_point_length(text), 1);
}

std::size_t units_of(std::size_t bytes) { return bytes == 4 ? 2 : 1; }

}  // namespace

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  while (!text.empty()) {
    const std::size_t bytes = length_at(text);
    units += units_of(bytes);
    text.remove_prefix(bytes);
  }
  return units;
}

Lines::Lines(std::string_view text) : starts_{0}, is_plain_{true} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) is_plain_.back() = false;
    const bool ends =
        text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (!ends) continue;
    starts_.push_back(i + 1);
    is_plain_.push_back(true);
  }
}

std::size_t Lines::line_of(std::size_t offset) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

std::size_t Lines::offset(std::string_view text, std::size_t line, std::size_t character) const {
  if (line >= starts_.size()) return text.size();
  std::size_t at = starts_[line];
  if (is_plain_[line]) {
    std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text.size();
    while (end > at && (text[end - 1] == '\n' || text[end - 1] == '\r')) --end;
    return at + std::min(character, end - at);
  }
  std::size_t units = 0;
  while (at < text.size() && text[at] != '\n' && text[at] != '\r') {
    const std::size_t bytes = length_at(text.substr(at));
    units += units_of(bytes);
    if (units > character) break;
    at += bytes;
  }
  return at;
}

std::size_t Lines::offset(std::string_view text, const Json& position) const {
  return offset(text, count_member(position, "line"), count_member(position, "character"));
}

Json Lines::position(std::string_view text, std::size_t offset) const {
  offset = std::min(offset, text.size());
  const std::size_t line = line_of(offset);
  return {{"line", line}, {"character", character(text, line, offset)}};
}

std::size_t Lines::character(std::string_view text, std::size_t line, std::size_t offset) const {
  const std::size_t begin = starts_[line];
  if (is_plain_[line]) return offset - begin;
  return utf16_length(text.substr(begin, offset - begin));
}

Json Lines::range(std::string_view text, std::size_t begin, std::size_t end) const {
  return {{"start", position(text, begin)}, {"end", position(text, end)}};
}

}  // namespace relay::server
