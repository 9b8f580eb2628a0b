#include "repl/startup.h"

#include <cstdlib>
#include <filesystem>

namespace relay::repl {

std::optional<std::string> startup_file() {
  const char* const configured = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (configured && *configured != '\0') {
    folder = configured;
  } else if (home && *home != '\0') {
    folder = std::filesystem::path(home) / ".config";
  } else {
    return std::nullopt;
  }
  const std::filesystem::path path = folder / "relay" / "init.relay";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path.string();
}

}  // namespace relay::repl
