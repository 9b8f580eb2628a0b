#pragma once

#include <map>
#include <optional>
#include <string>

#include "lang/module.h"
#include "parser/parse.h"
#include "repl/imports.h"

namespace relay::repl {

// The names that an import item gives to definitions of a loaded file, each with the full name that
// it stands for: all of them, all behind a prefix, or those it lists, perhaps as others. Data types
// and full names come with any import. Throws Failure for a name that is not there (UnknownName).
std::map<std::string, std::string> imported_names(const parser::ImportItem& item,
                                                  const ImportedFile& file);

// A warning where operators hide some of the `names` that the item gives, with how these are
// reached.
std::optional<lang::Diagnostic> hidden_import(const parser::ImportItem& item,
                                              const ImportedFile& file,
                                              const std::map<std::string, std::string>& names);

}  // namespace relay::repl
