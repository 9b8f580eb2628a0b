#pragma once

#include <string>
#include <vector>

#include "lang/module.h"

namespace relay::repl {

// `expr` with the global `from` called `to`; itself where it does not mention it.
lang::Expr with_global_renamed(const lang::Expr& expr, const std::string& from,
                               const std::string& to);

// A `let` is about to give `name` another meaning. What mentions the function that it has been goes
// on meaning that: `value`, what the name gets (or null), and functions that follow others. Where
// one does, the function stays in `module` under a name of its own, `f.older`. Gives the names of
// the followers that are concerned; their definitions are new ones.
std::vector<std::string> keep_older(const std::string& name, lang::Expr* value,
                                    lang::Module& module);

}  // namespace relay::repl
