#pragma once

#include "parser/messages.h"
#include "parser/syntax.h"

namespace relay::parser {

// The syntax tree of a whole text (a File node), by the grammar of its notation. Throws SyntaxStop.
SyntaxTree read_text(const lang::Source& source, bool strict);

// The same for a text that is one type; the File has the type as only child.
SyntaxTree read_type(const lang::Source& source);

}  // namespace relay::parser
