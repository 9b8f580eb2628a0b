#include "repl/parts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "repl/output.h"
#include "repl/tools.h"

namespace relay::repl {

namespace {

namespace fs = std::filesystem;

constexpr auto kParts = std::to_array<Part>({
    {"lsp", "relay-lsp",
     "serve an editor: the Language Server Protocol on standard input and output", ""},
    {"kernel", "relay-kernel", "be the kernel of a Jupyter notebook, or install it", "xeus-dev"},
    {"import", "relay-import", "write a model of another framework as a program, and its weights",
     ""},
    {"build", "relay-build", "write functions of a program as a shared object for C", ""},
    {"export", "relay-import", "write a function of a program as a model of ONNX", ""},
});

// Where the parts may stand: beside the program, or where an installed one has its shared objects.
std::vector<fs::path> folders() {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  return {self, fs::path(self / RELAY_PARTS_FROM_PROGRAM).lexically_normal()};
}

}  // namespace

std::span<const Part> parts() { return kParts; }

const Part* find_part(std::string_view command) {
  const auto* found = std::find_if(kParts.begin(), kParts.end(),
                                   [&](const Part& part) { return part.command == command; });
  return found == kParts.end() ? nullptr : found;
}

int become_part(const Part& part, char** arguments) {
  for (const fs::path& folder : folders()) {
    const std::string path = folder / part.program;
    std::error_code unknown;
    if (!fs::exists(path, unknown)) continue;
    execv(path.c_str(), arguments);
    put_error(fmt::format("relay: cannot run {}: {}\n", path, std::strerror(errno)));
    return kProgramError;
  }
  const std::string how =
      part.needs.empty()
          ? std::string("`./dev build` builds it")
          : fmt::format("it is built where CMake finds its libraries (Debian: {})", part.needs);
  put_error(fmt::format("relay: `relay {}` is not part of this build: {}\n", part.command, how));
  return kMisuse;
}

int become_part(const Part& part, const std::vector<std::string>& arguments) {
  std::vector<std::string> kept = arguments;
  std::vector<char*> words;
  for (std::string& word : kept) words.push_back(word.data());
  words.push_back(nullptr);
  return become_part(part, words.data());
}

}  // namespace relay::repl
