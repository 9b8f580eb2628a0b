#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/tokens.h"

// What a text is about where it is cut off: found by one walk over the tokens before, which never
// fails, as the text is most often no program.
namespace relay::repl::completion {

// What gives names a meaning up to the place, outermost first.
struct Binder {
  enum class Kind : std::uint8_t { Function, Let, Global, Index, Case, Schedule };
  Kind kind;
  // Function: `[n](x: T)` without default values; Global: a `let` statement of a function, or empty
  // where it cannot be one.
  std::string text;
  // Of the text that was walked: a `let` statement without its `;`; of a Case the scrutinee.
  std::string_view source;
  std::string_view pattern;        // Case
  std::vector<std::string> names;  // values; of a Function those of its parameters
  std::vector<std::string> dims;   // type parameters of a Function
  bool is_global = false;          // of the text's top level
};

// A call whose arguments the place is among.
struct CallPlace {
  std::string callee;               // dotted; empty where it is no name
  std::vector<std::string> before;  // positional arguments in front, as they are written
  std::vector<std::string> given;   // attributes that have a value already
  bool is_piped = false;            // `x |> f(`: one more argument stands in front
  std::string attribute;            // the place is behind `attribute=`
  bool at_start = false;            // of an argument
};

// The names by which a function or record constructor of the text takes its arguments.
struct Signature {
  std::string name;
  std::vector<std::string> arguments;
};

// A file that the text imports.
struct ImportedNames {
  std::string path;
  std::string prefix;              // `as m`; or empty
  std::vector<std::string> names;  // `(f, g as h)`, as they are called here; none: all
};

enum class PlaceKind : std::uint8_t {
  Nothing,  // comments, numbers, new names
  Value,    // an expression begins
  After,    // behind an expression: `else`, `with`
  Item,     // an item of the text begins, be it an expression
  Type,
  DType,
  Dim,  // in the shape of a type
  Pattern,
  Step,        // of a schedule
  Member,      // behind a dot
  FieldName,   // of `with { .. }`
  String,      // inside of a string
  ImportName,  // `import "f.relay" (..`
};

struct Place {
  PlaceKind kind = PlaceKind::Nothing;
  std::size_t begin = 0;  // of what has been typed of the name
  std::string head;       // Member: what the dot is behind; FieldName: the record
  std::string path;       // ImportName: the file
  std::optional<CallPlace> call;
  std::vector<Binder> binders;
  std::vector<ImportedNames> imports;
  std::vector<std::string> type_params;  // of the function that has begun
  std::vector<std::string> types;        // that the text defines
  std::vector<std::string> constructors;
  std::vector<std::string> fields;  // of records of the text
  std::vector<Signature> signatures;
  bool in_params = false;  // a default value
  bool in_block = false;   // where a `let` may stand
  bool in_import = false;  // String: the file of an import
};

// Of the end of `text`, which the place refers to. `rest` is what follows it: the definitions of
// both are names.
Place place_at_end(std::string_view text, std::string_view rest);

// The values, and the data types with their constructors, that a text defines.
struct DefinedNames {
  std::vector<std::string> values;
  std::vector<std::string> types;
  std::vector<std::string> constructors;
  std::vector<std::string> fields;
  std::vector<Signature> signatures;
};
DefinedNames names_defined_in(std::string_view text);

}  // namespace relay::repl::completion
