#pragma once

#include <string>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "repl/session.h"

// The function that a command is asked for by its name, `-f NAME`, in the program of a file.
namespace relay::repl {

// The names of the functions that the program itself defines.
std::vector<std::string> own_functions(const lang::Module& module);
// What is said where there is none of that name: which is meant, or which there are.
lang::Diagnostic no_such_function(const lang::Module& module, const std::string& name,
                                  const std::string& path);
// `a`, `b`: names, quoted.
std::string list_of(const std::vector<std::string>& names);

// Throws Failure: UnknownName, or NotAFunction for a value.
const lang::Definition& named_function(Session& session, const std::string& name,
                                       const std::string& path);
// Its type, whose extents may be variables, but nothing else: throws Failure(AmbiguousType) where
// a dtype or a rank is open.
lang::Type told_type(Session& session, const lang::Definition& definition);

}  // namespace relay::repl
