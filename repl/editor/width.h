#pragma once

#include <cstddef>
#include <string_view>

// How much room text takes on a terminal.
namespace relay::repl::editor {

// The character at the start of `text`, which is not empty.
struct Character {
  std::size_t bytes;     // at least 1; what is no UTF-8 is a character of one byte
  int columns;           // 0 for what combines with the character before, 2 for wide ones
  bool is_shown = true;  // a terminal would not obey it instead
};
Character character_at(std::string_view text);

// Where the character begins that ends at `end`, with what combines with it; 0 at the beginning.
std::size_t character_before(std::string_view text, std::size_t end);
// Behind the character at `begin`, with what combines with it; the end of the text there.
std::size_t character_after(std::string_view text, std::size_t begin);

int columns_of(std::string_view text);

}  // namespace relay::repl::editor
