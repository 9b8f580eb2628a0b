#pragma once

#include <string>

#include "lang/diagnostic.h"
#include "parser/parse.h"

namespace relay::parser {

// The text laid out anew, in its own notation: lines of at most 100 characters where that is
// possible, two spaces for each level. Every token stays, but for commas and semicolons that end
// something, and so does every comment and, where it separates, one empty line. Formatting twice
// changes nothing more, and the program is the same. A block or a list of cases that begins a new
// line behind its `{` keeps its lines even where it would fit on one. A text with a syntax error
// gives that instead.
lang::Result<std::string> format(const lang::Source& source, Notation notation = Notation::Auto);

}  // namespace relay::parser
