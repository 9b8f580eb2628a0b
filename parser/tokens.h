#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

// A text as whoever shows it sees it, while it is typed, whole or not.
namespace relay::parser {

enum class TokenKind { Keyword, Name, Number, String, Comment, Operator, Open, Close };

struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
  // Of a string or comment that is never closed; it goes on to the end of its line or text.
  bool is_open = false;
};

// The tokens of the light notation and the comments, in their order, by the scanners that the
// grammar uses. What is no token, as a `$`, is an Operator of one character; so that half a text is
// read well, a string that does not end on its line may be taken to be open there. Linear in the
// text.
enum class Strings : bool { OverLines, OnTheirLine };
std::vector<Token> tokens_of(std::string_view text, Strings strings = Strings::OverLines);

struct Place {
  std::size_t begin;
  std::size_t end;
};

// The first syntax error that no text behind it could mend; nothing when there is none, or when
// more input is needed. Recurses as deeply as the text nests, as parse() does.
std::optional<Place> mistake_in(std::string_view text);

}  // namespace relay::parser
