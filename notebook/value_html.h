#pragma once

#include <string>
#include <string_view>

#include "lang/value.h"

namespace relay::notebook {

// A value that has a tensor in it as tables: a tensor of which much is left out by an excerpt, its
// edges, with the indices of rows and columns beside it; more than two axes as matrices; tuples and
// records by their fields. Empty for any other value, which is as clear as text. `type`: what
// stands beneath.
std::string html_of(const lang::Value& value, std::string_view type);

}  // namespace relay::notebook
