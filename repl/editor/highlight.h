#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace relay::repl::editor {

// What a character is, for those who colour it.
enum class Face : unsigned char {
  Plain,
  Prompt,
  Keyword,
  Number,
  String,
  Comment,
  Command,
  Matched,   // the bracket at the cursor, and its partner
  Mistake,   // what the parser cannot read
  Detail,    // what explains a candidate
  Selected,  // candidate
};

// The sequence that a terminal wants before text of that face.
std::string_view sequence_of(Face face);

// The face of each byte of an entry that is being typed: by the lexer of the language; a syntax
// error is marked unless more text could mend it, or the cursor stands in it. Linear in the text.
std::vector<Face> faces_of(std::string_view text, std::size_t cursor);

// Is it for the prompt itself: `:command`, `?name`, `name?`?
bool is_command(std::string_view text);

}  // namespace relay::repl::editor
