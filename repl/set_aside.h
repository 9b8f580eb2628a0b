#pragma once

#include <string>

#include "lang/module.h"

namespace relay::repl {

// One's own definition, in `text`, may take a name of the prelude. What was defined before goes on
// meaning the old one: it gets the name `prelude.NAME` in `module`, and in all code that is not of
// this text. `prelude` is what imported files see besides their own imports; there the name stays
// as an alias. Nothing happens when the prelude has no such name, or has lost it already.
void set_aside(const std::string& name, const lang::Source* text, lang::Module& module,
               lang::Module& prelude);

// The reverse, once the own definition is gone: the prelude's function is called `name` again, here
// and in imported files. False if the prelude has none.
bool bring_back(const std::string& name, lang::Module& module, lang::Module& prelude);

}  // namespace relay::repl
