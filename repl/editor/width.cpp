#include "repl/editor/width.h"

#include <wchar.h>

#include <algorithm>
#include <clocale>

#include "lang/utf8.h"

namespace relay::repl::editor {

namespace {

// wcwidth() goes by the locale. Programs are UTF-8, and so is what is typed.
void choose_encoding() {
  static const bool is_chosen = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  static_cast<void>(is_chosen);
}

wchar_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? first : first & (0x7FU >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(character[i]) & 0x3FU);
  return static_cast<wchar_t>(code);
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Character character_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first >= ' ' && first < 0x7F) return {1, 1};
  const std::size_t bytes = std::max<std::size_t>(lang::code_point_length(text), 1);
  if (lang::is_obeyed(text)) return {bytes, 1, false};
  choose_encoding();
  const int columns = wcwidth(code_point(text.substr(0, bytes)));
  return {bytes, std::max(columns, 0), columns >= 0};
}

std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0) {
    --begin;
    for (int i = 0; i < 3 && begin > 0 && is_continuation(text[begin]); ++i) --begin;
    // Bytes that are no character are taken one by one.
    if (begin + character_at(text.substr(begin)).bytes < end && begin + 4 > end &&
        lang::code_point_length(text.substr(begin)) == 0)
      begin = end - 1;
    if (character_at(text.substr(begin)).columns > 0) break;
  }
  return begin;
}

std::size_t character_after(std::string_view text, std::size_t begin) {
  if (begin >= text.size()) return text.size();
  std::size_t end = begin + character_at(text.substr(begin)).bytes;
  if (text[begin] == '\n') return end;
  while (end < text.size()) {
    const Character next = character_at(text.substr(end));
    if (next.columns > 0) break;
    end += next.bytes;
  }
  return end;
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character next = character_at(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

}  // namespace relay::repl::editor
