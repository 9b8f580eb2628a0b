#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ahead/request.h"
#include "lang/diagnostic.h"
#include "repl/session.h"

namespace relay::ahead {

// Who hears of a build.
struct Listener {
  std::function<void(const std::string&)> say;                         // a line of what came of it
  std::function<void(const std::vector<lang::Diagnostic>&)> complain;  // their places live as long
};

// Runs the program of a request in a session of these options and writes the shared object of its
// entries, and the header. False if that went wrong.
bool build(const Request& request, repl::SessionOptions options, const Listener& listener);

}  // namespace relay::ahead
