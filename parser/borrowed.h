#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "parser/scan.h"

namespace relay::parser {

// A change of a text.
struct Edit {
  std::string insertion;
  std::uint32_t at = 0;
  std::string help;
  std::uint32_t removed = 0;  // bytes at `at` that go
  bool is_light = false;      // the text it makes is of the light notation
  bool is_marked = false;     // the place is shown
};

using grammar::is_digit;

// What people write who know other languages: edits that make it ours, for an error at `at` in a
// text of the light notation. They are guesses: the caller tries whether they help.
void add_borrowed(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
                  std::vector<Edit>& edits);

// A warning where a value, which is a number or is bound to a name, has a number for a comment
// behind it, as in `7 // 2` or `let h = n // 2`: elsewhere that divides.
std::optional<lang::Diagnostic> commented_division(lang::Span value);

// `d/dx (e)`, whose `d` begins at `at`: what stands for it, and the word `dx`.
struct Differential {
  std::string_view by;
  std::string help;
};
std::optional<Differential> differential_at(std::string_view text, std::uint32_t at);

// What takes the place of a thing that we do not have, in words; empty if nothing is known.
std::string_view help_for_borrowed(const lang::Diagnostic& error, std::string_view text);

}  // namespace relay::parser
