#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/source.h"

// Where the names of a text stand and what each of them means there, for who shows or changes
// names.
namespace relay::parser {

enum class NameKind : std::uint8_t {
  Local,         // a parameter, a `let` of a function, a variable of a pattern, an index, `%0`
  TypeVariable,  // `n` of `def f[n]`
  Global,        // a function or binding of a text's top level
  Type,
  Constructor,
  Field,      // of a record
  Parameter,  // given by name in a call of a `def`
  Operator,
};

// One place of a name. The same thing is meant by all that have one `definition`; what has none is
// known by its kind and name.
struct Occurrence {
  lang::Span span;  // with its sigil
  NameKind kind;
  // Global: its full name. Operator: the operator's. Parameter: FUNCTION.PARAMETER. Else as
  // written, without a sigil.
  std::string name;
  lang::Span definition;  // where the name is introduced; empty: in no text that is known here
  bool is_definition = false;
};

// In no particular order; a place that is read twice is there twice.
using Occurrences = std::vector<Occurrence>;

}  // namespace relay::parser
