#pragma once

#include <string>
#include <vector>

#include "lang/module.h"
#include "parser/parse.h"

namespace relay::repl {

// Can it only be a function, whatever it is called with: a literal, an operator, a global function,
// the derivative of one of these? It needs no evaluation, and may be generic.
bool is_function(const lang::Expr& expr, const lang::Module& module);

// A top-level `let` of what can only be a function is a definition. Turns it into one; leaves other
// items, and those with a type annotation, as they are. `module` has what stands before it.
void let_as_definition(parser::Item& item, const lang::Module& module);

// Those of a text, whose definitions are all there from its beginning. What depends on the order of
// its `let`s stays one until the text has come to it: which binds a name that has a meaning, and
// who reads a name that several bind.
void lets_as_definitions(std::vector<parser::Item>& items, const lang::Module& module);

// The function whose custom gradient `name` is; empty if it is none.
std::string owner_of_gradient(const lang::Module& module, const std::string& name);

}  // namespace relay::repl
