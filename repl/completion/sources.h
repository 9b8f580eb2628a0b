#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/names.h"
#include "repl/completion/place.h"
#include "repl/completion/state.h"

// Where candidates come from: each function adds the names of one kind that `typed` may become,
// what is innermost first. None asks for types but of what is shown.
namespace relay::repl::completion {

// Parameters, bindings, and definitions of the text.
void add_locals(const Place& place, std::vector<Name>& names);
// What a step of a schedule may mention, and the words of steps.
std::vector<Name> names_of_steps(const Place& place);
// Definitions and constructors of the session and the prelude.
void add_globals(const State& state, std::string_view typed, std::vector<Name>& names);
// Those of which `typed` is no part of a dotted name: its namespace instead, `nn.`.
void add_operators(std::string_view typed, std::vector<Name>& names);
// Forms such as `grad`, constants such as `True`.
void add_forms(std::vector<Name>& names);
// Words that may begin an expression or, in a block or at the top level, what else may stand there.
void add_words(const Place& place, std::vector<Name>& names);
void add_dtypes(std::string_view quote, std::vector<Name>& names);
// Those of the functions around the place.
void add_type_params(const Place& place, std::vector<Name>& names);
void add_types(const State& state, const Place& place, std::vector<Name>& names);
void add_constructors(const State& state, std::string_view typed, std::vector<Name>& names);
// The fields of all records.
void add_all_fields(const State& state, const Place& place, std::vector<Name>& names);
// `my.` for dotted names of definitions among `names`.
void add_namespaces(std::vector<Name>& names);
// Of a value of that type: its fields, or the places of a tuple.
void add_members(const lang::Type& type, std::vector<Name>& names);

// The type of a definition, operator or constructor, or what says most about it.
std::string detail_of(const State& state, const std::string& name);

}  // namespace relay::repl::completion
