#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ahead/request.h"
#include "lang/diagnostic.h"

namespace relay::ahead {

// Runs the program of a request and writes the shared object of its entries, and the header. Says
// what has come of it by `say`, a line at a time. The diagnostics of what went wrong.
std::vector<lang::Diagnostic> build(const Request& request,
                                    const std::function<void(const std::string&)>& say);

}  // namespace relay::ahead
