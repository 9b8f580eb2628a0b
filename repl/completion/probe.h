#pragma once

#include <string>
#include <vector>

#include "lang/type.h"
#include "repl/completion/place.h"
#include "repl/completion/state.h"

namespace relay::repl::completion {

// The types of expressions where `binders` have given names a meaning; null for those that have
// errors, or mention what has. A binder with errors is left out, so that it costs the types of what
// it binds and no others. Type variables are shared by all of them. Recurses as deeply as the text
// nests. Cost: inference of what stands in front of the place, where that is at most 20 KB.
std::vector<lang::Type> types_at(const State& state, const std::vector<Binder>& binders,
                                 const std::vector<std::string>& expressions);

// As `:type` shows it; empty for a type of which nothing is known.
std::string shown(const lang::Type& type);

// Can the types be equal, whatever the variables of both are?
bool may_agree(const lang::Type& a, const lang::Type& b);

}  // namespace relay::repl::completion
