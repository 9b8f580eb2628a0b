#pragma once

#include <string>

#include "lang/source.h"
#include "lang/type.h"

namespace relay::lang {

// A random operator gives the next key and what was drawn. Taken for the latter alone, as by who
// comes from libraries whose generators keep their state, the mend is told: a line for a
// diagnostic, empty for other types. `where`: the value as it is written, if it is.
std::string help_for_drawn(const Type& type, Span where);

}  // namespace relay::lang
