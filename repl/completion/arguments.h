#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/names.h"
#include "repl/completion/place.h"
#include "repl/completion/state.h"

namespace relay::repl::completion {

// Adds `axis=` and its like: attributes of an operator or a function, parameters that may be given
// by name, fields of a record; without those that have a value.
void add_attributes(const State& state, const CallPlace& call, std::vector<Name>& names);
// The same of a function or a record constructor of the text, or of a file that it imports.
void add_attributes(const std::vector<Signature>& signatures, const CallPlace& call,
                    std::vector<Name>& names);
// Adds the values of the attribute that the place gives where these are an enumeration; strings in
// `quote`s. `is_string`: the place is inside of a string, so that it may also be one that is given
// by its place.
void add_attribute_values(const CallPlace& call, std::string_view quote, bool is_string,
                          std::vector<Name>& names);
// Does the call take the name of a file here?
bool takes_file(const CallPlace& call);

// An expression whose type is that of a function of the arguments that are not written yet; nothing
// where the callee is no global, or takes no more of them.
std::optional<std::string> function_of_the_rest(const State& state, const CallPlace& call);

}  // namespace relay::repl::completion
