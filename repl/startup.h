#pragma once

#include <optional>
#include <string>

namespace relay::repl {

// The file that is run before the first prompt, if it exists: `relay/init.relay` in
// `$XDG_CONFIG_HOME`, or in `$HOME/.config`.
std::optional<std::string> startup_file();

}  // namespace relay::repl
