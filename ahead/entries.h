#pragma once

#include <vector>

#include "ahead/c_text.h"
#include "ahead/request.h"
#include "interp/ahead.h"
#include "repl/session.h"

namespace relay::ahead {

struct Entries {
  std::vector<interp::GlobalFunction> functions;
  std::vector<Exported> exported;  // of the same
};

// The functions of a request, in a session that has run its program; of a gradient, one that is
// defined here. Throws Failure for a name that is no function, one whose types are open, or what C
// cannot see.
Entries find_entries(const Request& request, repl::Session& session);

}  // namespace relay::ahead
