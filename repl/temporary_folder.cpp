#include "repl/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::repl {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : folder) / "relay-XXXXXX").string();
  if (!mkdtemp(path_.data())) {
    lang::fail(lang::DiagnosticKind::FileError,
               fmt::format("cannot make a folder `{}`: {}", path_, std::strerror(errno)));
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace relay::repl
