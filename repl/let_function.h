#pragma once

#include <string>
#include <vector>

#include "lang/module.h"
#include "parser/parse.h"

namespace relay::repl {

// Can it only be a function, whatever it is called with: a literal, an operator, a global function,
// the derivative of one of these? It needs no evaluation, and may be generic.
bool is_function(const lang::Expr& expr, const lang::Module& module);

// A top-level `let` of what can only be a function is a definition: turns those of a text into
// ones, but for those with a type annotation. Definitions are there from the beginning of the text.
// What depends on the order of its `let`s stays one: which binds a name that has a meaning, and who
// reads a name that several bind.
void lets_as_definitions(std::vector<parser::Item>& items, const lang::Module& module);

// The text has come to a `let`, and `module` has what stands before it: turns it into a definition
// if it is one, and lets what others have made of the function that it hides go on meaning that
// (repl/older_function). Gives the names of definitions that have become others by that.
std::vector<std::string> reach_let(parser::Item& item, lang::Module& module);

// The function whose custom gradient `name` is; empty if it is none.
std::string owner_of_gradient(const lang::Module& module, const std::string& name);

}  // namespace relay::repl
