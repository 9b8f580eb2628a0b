#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace relay::repl::completion {

enum class TokenKind : std::uint8_t { Word, Number, String, Sign };

// A token of light notation. Sigils are signs of their own.
struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
  bool first_on_line;
  bool in_first_column;
  bool is_open = false;  // a string without end
  std::string_view text;

  bool is(std::string_view wanted) const { return text == wanted; }
  bool is_word() const { return kind == TokenKind::Word; }
};

struct Tokens {
  std::vector<Token> list;
  bool ends_in_comment = false;  // at the end of the text a comment goes on
};

// Any text has tokens. Cost: linear.
Tokens tokens_of(std::string_view text);

// Where the name ends at `at` begins, and whether the place is inside of one.
std::size_t begin_of_name(std::string_view text, std::size_t at);

}  // namespace relay::repl::completion
