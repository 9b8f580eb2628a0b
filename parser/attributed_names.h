#pragma once

#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/diagnostic.h"

namespace relay::parser {

// A name with attributes, as `FuseOps(max_depth=4)`, or `AnnotateTarget(dnnl)`.
struct AttributedName {
  std::string name;
  lang::AttrsRef attrs;  // those without a name have an empty key
  lang::Span span;       // of the name
};

// Names with attributes, one or several between commas, at the beginning of a text: read as the
// arguments of a call are in light notation, but that a string that is one word needs no quotes.
struct AttributedNames {
  std::vector<AttributedName> list;
  std::size_t end;  // where they end in the text
};
lang::Result<AttributedNames> parse_attributed_names(const lang::Source& source);

}  // namespace relay::parser
