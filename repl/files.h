#pragma once

#include <string>

#include "formats/file_access.h"
#include "lang/diagnostic.h"

namespace relay::repl {

// The whole text of a file; of standard input for `-`. Fails with FileError, FileRefused, or
// Interrupted while a pipe is waited for.
lang::Result<std::string> read_file(const std::string& path,
                                    const formats::FileAccess& access = {});

// Replaces the content of a file, or leaves it as it was and fails with FileError, as
// formats/output_file.h says.
lang::Result<bool> write_file(const std::string& path, const std::string& text);

}  // namespace relay::repl
