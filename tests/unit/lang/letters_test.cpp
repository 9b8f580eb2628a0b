#include "lang/letters.h"

#include <string>

#include <catch2/catch.hpp>

namespace relay::lang {
namespace {

TEST_CASE("letters: of ASCII, and Greek ones that look like no Latin one") {
  for (const char* letter : {"a", "Z", "_", "α", "ω", "ν", "ς", "Δ", "Ω", "ϵ", "ϕ"})
    CHECK(letter_length(letter) == std::string(letter).size());
  for (const char* other : {"", "1", ".", "Α", "Υ", "ο", "µ", "é", "д", "∂", "日", "₁"})
    CHECK(letter_length(other) == 0);
  CHECK(letter_length("αβ") == 2);
  CHECK(letter_length(std::string_view("α").substr(0, 1)) == 0);
  CHECK(letter_length(std::string_view("α").substr(1)) == 0);
}

TEST_CASE("letters: at either end of a text") {
  CHECK(word_length("7α") == 1);
  CHECK(word_length_at_end("α7") == 1);
  CHECK(word_length_at_end("7α") == 2);
  CHECK(word_length_at_end("é") == 0);
  CHECK(word_length_at_end("-") == 0);
}

}  // namespace
}  // namespace relay::lang
