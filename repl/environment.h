#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lang/module.h"
#include "repl/columns.h"

// What there is to be used at the prompt, as text.
namespace relay::repl {

// Is it a definition that a person has made, and not a part, an instance or a result of one?
bool is_written(const lang::Definition& definition, const lang::Module& module);

// `:env`: what has been imported and defined here, with types, each kind in order of definition; in
// lines of at most `width`. `type_of`: the printed type of a definition.
std::string describe_environment(const lang::Module& module,
                                 const std::function<std::string(const lang::Definition&)>& type_of,
                                 std::size_t width);

// `:apropos`: whatever has the word in its name, and then what has it in its description, or is
// what another library calls so: operators, keywords, definitions, commands. The word may be
// written in any case. Empty if there is nothing.
std::vector<Row> find_apropos(const std::string& word, const lang::Module& module);

}  // namespace relay::repl
