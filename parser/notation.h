#pragma once

#include "parser/parse.h"

namespace relay::parser {

// Is the text to be read as strict Relay?
bool is_strict(const lang::Source& source, Notation notation);

}  // namespace relay::parser
