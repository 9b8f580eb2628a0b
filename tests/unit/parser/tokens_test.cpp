// A text as whoever shows it sees it: tokens, and the error that no more text could mend.

#include "parser/tokens.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace relay::parser {
namespace {

// `k` and so on for each token, with its text.
std::string shown(std::string_view text) {
  constexpr std::string_view kLetters = "knds#o()";  // in the order of TokenKind
  std::string result;
  for (const Token& token : tokens_of(text))
    result += fmt::format("{}{}{}{} ", kLetters[static_cast<std::size_t>(token.kind)],
                          token.is_open ? "!" : "", ":",
                          text.substr(token.begin, token.end - token.begin));
  if (!result.empty()) result.pop_back();
  return result;
}

TEST_CASE("tokens are those of the grammar, with the comments") {
  CHECK(shown("let x = 1.5e-3f64 + f(x) // why") ==
        "k:let n:x o:= d:1.5e-3f64 o:+ n:f (:( n:x ):) #:// why");
  CHECK(shown("\"a \\\" b\" /* a /* b */ c */ true") ==
        "s:\"a \\\" b\" #:/* a /* b */ c */ n:true");
  CHECK(shown("for i < 3 { sum k < 2 { sum(x) } }") ==
        "k:for n:i o:< d:3 (:{ k:sum n:k o:< d:2 (:{ n:sum (:( n:x ):) ):} ):}");
  CHECK(shown("a == b && c[-1] |> g") == "n:a o:== n:b o:&& n:c (:[ o:- d:1 ):] o:| o:> n:g");
}

TEST_CASE("tokens of a text that is not whole") {
  CHECK(shown("f(\"abc") == "n:f (:( s!:\"abc");
  CHECK(shown("x /* never") == "n:x #!:/* never");
  CHECK(shown("größe $ \xff") == "n:gr o:ö o:ß n:e o:$ o:\xff");
  CHECK(shown("").empty());
  CHECK(shown("// only").substr(0, 2) == "#:");
}

std::string mistake(std::string_view text) {
  const auto place = mistake_in(text);
  return place ? std::string(text.substr(place->begin, place->end - place->begin)) : "none";
}

TEST_CASE("a mistake is what no more text could mend") {
  for (const char* text : {"", "1 + 1", "1 +", "def f(x) {", "\"open", "let x", "f(1,", "/* "}) {
    INFO(text);
    CHECK(mistake(text) == "none");
  }
  CHECK(mistake("f(1 2)") == "2");
  CHECK(mistake("def f(x) { x ) }") == ")");
  CHECK(mistake("let y = x +* 2;\nz") == "*");
}

}  // namespace
}  // namespace relay::parser
