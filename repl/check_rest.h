#pragma once

#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "parser/parse.h"

namespace relay::repl {

// All errors of a text that has some already: those of its reading, and the type errors of the
// items that neither are broken nor reach one that is. In the order of the text. Nothing is run,
// and the modules stay as they are.
std::vector<lang::Diagnostic> check_rest(const lang::Module& module, const lang::Module& prelude,
                                         parser::Reading reading);

}  // namespace relay::repl
