#pragma once

#include <memory>
#include <string>

#include "interp/compiling.h"

namespace relay::repl {

// Code of kernels in the files of a folder, an entry in each, for any number of processes at once.
// An entry that is damaged, or that another program, compiler or processor made, is as if it were
// not there. The files take up to 64 MiB; those that have not been used for longest go first.
//
// What is read there is run: the folder and its files must belong to who runs the program, and
// nobody else may write to them. It is made where it is missing. Null where it cannot be used.
// `maker`: the program, the compiler and the processor, in words of any kind.
std::unique_ptr<interp::CodeStore> open_code_cache(const std::string& folder, std::string maker);

// Where it is kept: $RELAY_CACHE, or `relay` in $XDG_CACHE_HOME or ~/.cache. Empty where there is
// none, or $RELAY_CACHE is `off`.
std::string code_cache_folder();
// The maker of this program's code; empty if it cannot be told.
std::string code_maker();

}  // namespace relay::repl
