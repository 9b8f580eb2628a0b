#pragma once

#include "parser/messages.h"
#include "parser/syntax.h"

namespace relay::parser {

// The syntax tree of a whole text (a File node), by the grammar of its notation. If it `recovers`,
// the tree holds the syntax errors, else it throws SyntaxStop at the first.
SyntaxTree read_text(const lang::Source& source, bool strict, bool recovers);

// The same for a text that is one type; the File has the type as only child.
SyntaxTree read_type(const lang::Source& source);

// Of a text that begins with names that have attributes (parser/attributed_names.h); the File has a
// Call for each of them, without other arguments, and ends where they end.
SyntaxTree read_attributed_names(const lang::Source& source);

}  // namespace relay::parser
