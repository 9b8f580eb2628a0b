#pragma once

#include <string>

#include "lang/diagnostic.h"

namespace relay::repl {

// The whole text of a file; of standard input for `-`. Fails with FileError.
lang::Result<std::string> read_file(const std::string& path);

// Replaces the content of a file, or leaves it as it was and fails with FileError: the new text
// goes to a file beside it, which then takes its name.
lang::Result<bool> write_file(const std::string& path, const std::string& text);

}  // namespace relay::repl
