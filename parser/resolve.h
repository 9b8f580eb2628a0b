#pragma once

#include <string>
#include <string_view>

#include "lang/module.h"
#include "parser/occurrences.h"
#include "parser/parse.h"
#include "parser/syntax.h"

namespace relay::parser {

// Gives the names of a tree their meanings and spells the notation's sugar out: syntax to core.
// The tree's errors and those about names, in the order of the text.
// `occurrences`: gets every name that is read, where it is not null.
Reading resolve(const SyntaxTree& tree, const lang::Module& scope, const std::string& prefix = "",
                Occurrences* occurrences = nullptr);

// What the prelude's `name` is called where a `let` of a text takes the name: what stands before
// the `let` means it so.
std::string name_in_prelude(std::string_view name);

// For a tree of read_type. Names that mean nothing become variables of the kind their place asks
// for.
lang::Result<lang::Type> resolve_type(const SyntaxTree& tree, const lang::Module& scope);

}  // namespace relay::parser
