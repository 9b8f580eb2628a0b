#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/source.h"

namespace relay::parser {

// A text that is one value and computes nothing: a number, perhaps with a sign, a boolean, a
// string, a tuple, a tensor or a constructor, of values.
struct ValueText {
  std::string text;               // of the value alone, without what stands around it
  std::vector<lang::Span> names;  // what must be constructors
  std::vector<lang::Diagnostic> errors;
};

// Light notation, whatever the text begins with. Recurses as deeply as the text nests.
ValueText read_value(const lang::Source& source);

}  // namespace relay::parser
