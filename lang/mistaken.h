#pragma once

#include <string>
#include <string_view>

#include "lang/source.h"
#include "lang/type.h"

namespace relay::lang {

// A value that was taken for what it holds, with the way to that: a line for a diagnostic, empty
// for other types. So is what a random operator gives, the next key and what was drawn, as by who
// comes from libraries whose generators keep their state; and a reference. `where`: the value as it
// is written, if it is.
std::string help_for_mistaken(const Type& type, Span where);

// For `x.shape`, `x.T` or `x.sum()` of other languages, where `value` is no record: what `member`
// of it is here; empty if nothing is known.
std::string help_for_member(std::string_view member, Span value);

}  // namespace relay::lang
