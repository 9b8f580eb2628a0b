#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"

// All of these recurse as deeply as the text nests. The session calls them on the evaluator's
// stack; a normal one (8 MiB) is enough for a thousand levels.
namespace relay::parser {

struct Occurrence;  // parser/occurrences.h

enum class ItemKind { Def, Type, Let, Expression, Import };

// One item of a file or prompt entry, names resolved.
struct Item {
  ItemKind kind;
  std::string name;          // Def, Let; Import: the path
  lang::Expr expr;           // Def: the Function; Let, Expression: the value. Untyped.
  lang::Type annotation;     // Let: `let x: T = e`; or null
  lang::PatternRef pattern;  // Let that takes its value apart, `let (a, b) = e`: it has no name
  std::string prefix;        // of the names that `pattern` binds
  lang::ParametersRef parameters;  // Def, and the next three: as in lang::Definition
  std::string instance_of;
  lang::AttrsRef instance_attrs;
  bool follows = false;       // false here: repl/let_function says so
  lang::TypeDefRef type_def;  // Type
  std::string doc;            // from `/// ...` lines before the item
  lang::Span span;
  bool hide_value = false;  // Expression followed by `;` at the prompt
};

struct Parsed {
  std::vector<Item> items;
  std::vector<lang::Diagnostic> warnings;
  bool strict = false;  // began with the version header, or was asked for
};

enum class Notation { Auto, Strict, Light };  // Auto: strict if the text begins with `#[version`

// Reads a whole text. `scope` supplies globals, types and constructors defined before; the text's
// own definitions are visible in all of it. Names are resolved as design, section 2, says: local,
// this text's global, constructor, operator, then prelude and other globals of `scope`.
// The text's globals are called `prefix` and the name written (an imported file's: `file.`).
lang::Result<Parsed> parse(const lang::Source& source, const lang::Module& scope,
                           Notation notation = Notation::Auto, const std::string& prefix = "");

// The files that a text imports. Whoever parses it brings them into the scope first. A text that
// cannot be read imports nothing: parse() says why.
struct ImportItem {
  std::string path;
  lang::Span span;
  std::string prefix;  // `as m`: what is `f` in the file is `m.f` here; or empty
  // `(f, g as h)`: what has a name here.
  struct Name {
    std::string name;
    std::string here;
    lang::Span span;
  };
  std::optional<std::vector<Name>> names;  // without: all that the file defines
};
std::vector<ImportItem> imports_of(const lang::Source& source, Notation notation = Notation::Auto);

// What a text holds besides its errors.
struct Reading {
  Parsed parsed;                         // the items without errors, and without mention of any
  std::vector<lang::Diagnostic> errors;  // in the order of the text; at most one for each cause
  std::vector<lang::TypeDefRef> types;   // kept alive: items may mention types that are left out
};
// What parse() reads, and what can be read of a text with errors. Of what is left
// out the names are known, so their uses are no errors. Other items may still mention items that
// are left out because of what those mention.
// `occurrences`: gets every name that is read (parser/occurrences.h), where it is not null.
Reading parse_all(const lang::Source& source, const lang::Module& scope,
                  Notation notation = Notation::Auto, const std::string& prefix = "",
                  std::vector<Occurrence>* occurrences = nullptr);

enum class Completeness { Complete, Incomplete, Broken };
// For the prompt: Incomplete when more lines could make the text valid (open brackets, strings or
// comments, an operator at the end), Broken when no more lines could, but brackets are open, so
// that they would belong to it. Decided by the same grammar that parse() uses.
Completeness completeness(std::string_view text);
// Does a definition surely begin with the next line of a text, though brackets are open in the
// text? That one was not closed is a common error.
bool is_cut_by(std::string_view text, std::string_view line);

// Reads a type in either notation, e.g. for tests: `Tensor[(2, n), float32]`.
lang::Result<lang::Type> parse_type(const lang::Source& source, const lang::Module& scope);

}  // namespace relay::parser
