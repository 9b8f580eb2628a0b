#pragma once

#include "parser/syntax.h"

namespace relay::parser {

// Adds to the syntax errors of a tree the one edit that surely mends each: a comma, a `;`, a
// closing bracket, `==` for `=`, a space. Found by trying: with it the text has one error less.
// What is known from other languages and has no such edit gets a help in words. Costs a reading of
// the text for each try, so long texts and later errors go without.
void add_mends(SyntaxTree& tree);

}  // namespace relay::parser
