#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "parser/borrowed.h"

// Pieces of a text that may not parse, for guesses at what was meant.
namespace relay::parser {

// A stretch of the text.
struct Piece {
  std::uint32_t begin = 0;
  std::string_view text;
  std::uint32_t end() const { return begin + static_cast<std::uint32_t>(text.size()); }
};

// The word, number or name with dots that ends before `at`, or begins behind it; blanks between
// them left out.
Piece word_before(std::string_view text, std::uint32_t at);
Piece word_after(std::string_view text, std::uint32_t at);
// Does an item or a statement begin at `at`?
bool begins_statement(std::string_view text, std::uint32_t at);
// The same, or what ends there in brackets, with the word in front of them: `x`, `(x - 1)`,
// `f(x)[0]`.
Piece operand_before(std::string_view text, std::uint32_t at);
// A word that begins behind `at`, with the brackets behind it: `x`, `f(x)[0]`.
Piece operand_after(std::string_view text, std::uint32_t at);
// Of `(x - 1)` what stands in the parentheses; any other text as it is.
std::string_view without_parentheses(std::string_view text);
// Where the expression that begins at `at` ends: before a bracket that it does not open, or one of
// `stops` outside of brackets.
std::uint32_t expression_end(std::string_view text, std::uint32_t at, std::string_view stops);
// Where the expression that ends before `at` begins.
std::uint32_t expression_begin(std::string_view text, std::uint32_t at);
std::string trimmed(std::string_view text, std::uint32_t begin, std::uint32_t end);
// `by` in the place of [begin, end).
Edit replaced(std::uint32_t begin, std::uint32_t end, std::string by, const std::string& help);
// A function with these parameters, whose body begins at `body`, in the place of all from `begin`
// on.
Edit function_of(std::string_view text, std::uint32_t begin, std::string_view params,
                 std::uint32_t body);
bool says(const lang::Diagnostic& error, std::string_view what);

// Forms that are spelt otherwise here; as add_borrowed.
void add_forms(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
               std::vector<Edit>& edits);
// Index notation with a slip in its head; as add_borrowed.
void add_indices(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
                 std::vector<Edit>& edits);

}  // namespace relay::parser
