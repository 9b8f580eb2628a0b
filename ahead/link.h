#pragma once

#include <string>
#include <vector>

#include "ahead/c_text.h"
#include "ahead/request.h"

namespace relay::ahead {

// Makes the shared object of its C text and the run time (librelay_built.a, beside this program or
// installed), with the C++ compiler, $CXX or `c++`, and then the header. `folder` holds the
// snapshot, as `snapshot`, and what is made on the way. Throws Failure where there is no compiler
// or no run time, or the compiler has an error, which is shown.
void link_object(const Request& request, const CText& text, const std::string& folder);

}  // namespace relay::ahead
