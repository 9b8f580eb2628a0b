#pragma once

#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"

namespace relay::parser {

enum class ItemKind { Def, Type, Let, Expression, Import };

// One item of a file or prompt entry, names resolved.
struct Item {
  ItemKind kind;
  std::string name;           // Def, Let; Import: the path
  lang::Expr expr;            // Def: the Function; Let, Expression: the value. Untyped.
  lang::Type annotation;      // Let: `let x: T = e`; or null
  lang::TypeDefRef type_def;  // Type
  std::string doc;            // from `/// ...` lines before the item
  lang::Span span;
  bool hide_value = false;  // Expression followed by `;` at the prompt
};

struct Parsed {
  std::vector<Item> items;
  bool strict = false;  // began with the version header, or was asked for
};

enum class Notation { Auto, Strict, Light };  // Auto: strict if the text begins with `#[version`

// Reads a whole text. `scope` supplies globals, types and constructors defined before; the text's
// own definitions are visible in all of it. Names are resolved as design, section 2, says: local,
// this text's global, constructor, operator, then prelude and other globals of `scope`.
lang::Result<Parsed> parse(const lang::Source& source, const lang::Module& scope,
                           Notation notation = Notation::Auto);

enum class Completeness { Complete, Incomplete };
// For the prompt: Incomplete when more lines could make the text valid (open brackets, strings or
// comments, an operator at the end, `else` still to come). Decided by the same grammar that parse()
// uses.
Completeness completeness(std::string_view text);

// Reads a type in either notation, e.g. for tests: `Tensor[(2, n), float32]`.
lang::Result<lang::Type> parse_type(const lang::Source& source, const lang::Module& scope);

}  // namespace relay::parser
