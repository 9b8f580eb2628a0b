#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/names.h"
#include "repl/completion/place.h"
#include "repl/completion/state.h"

namespace relay::repl::completion {

// The entries of the folder that `typed` names, by their last part: folders end with `/`. With an
// `ending`, only folders and files with it. Hidden ones only where a dot has been typed. None where
// the session may open no files.
void add_files(const State& state, std::string_view typed, std::string_view ending,
               std::vector<Name>& names);
// The same of what an import may name: also in the search path and the standard library.
void add_imports(const State& state, std::string_view typed, std::vector<Name>& names);
// What a file that is imported by this path defines. Nothing of it is run.
DefinedNames names_of_file(const State& state, const std::string& path);
// What an import of the file may name.
void add_names_of_file(const State& state, const std::string& path, std::vector<Name>& names);
// The names that the imports of a text give it.
void add_imported(const State& state, const std::vector<ImportedNames>& imports,
                  std::vector<Name>& names);
// Where the last part of a path begins.
std::size_t begin_of_last_part(std::string_view path);

}  // namespace relay::repl::completion
