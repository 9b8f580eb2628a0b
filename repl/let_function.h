#pragma once

#include <functional>
#include <string>

#include "lang/module.h"
#include "parser/parse.h"

namespace relay::repl {

// The function literal that a global stands for; null if it is none.
using FindFunction = std::function<const lang::Function*(const std::string&)>;

// Can it only be a function, whatever it is called with: a literal, an operator, a global function,
// the derivative of one of these? It needs no evaluation, and may be generic.
bool is_function(const lang::Expr& expr, const FindFunction& find);

// A top-level `let` of what can only be a function is a definition. Turns it into
// one; leaves other items, and those with a type annotation, as they are.
void let_as_definition(parser::Item& item, const FindFunction& find);

// The function whose custom gradient `name` is; empty if it is none.
std::string owner_of_gradient(const lang::Module& module, const std::string& name);

}  // namespace relay::repl
