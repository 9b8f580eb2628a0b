// Draws pictures of sessions: types each script FOLDER/NAME.in at `relay` on a pseudo-terminal
// (tests/README.md has the format), and writes the screen at its end as FOLDER/NAME.svg; or says
// which pictures are old.
//
//   session_pictures [--check] FOLDER
//
// The first comment of a script says what the picture shows. Exit code 1: a script goes wrong, or,
// with --check, a picture is not what would be drawn now. 2: the call is wrong.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/support/run_each.h"
#include "tests/support/typed_program.h"
#include "tests/support/typed_script.h"
#include "tools/session_pictures/svg.h"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> scripts_in(const std::string& folder) {
  std::vector<std::string> scripts;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".in") scripts.push_back(entry.path().string());
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

std::string first_comment(const fs::path& script) {
  std::ifstream file(script);
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("# ")) return line.substr(2);
  return script.stem().string();
}

// What is wrong, or empty.
std::string draw(const fs::path& script, bool only_check) {
  std::optional<relay::tests::Screen> screen;
  const std::string wrong = relay::tests::run_typed_script(script.string(), &screen);
  if (!wrong.empty()) return wrong;
  if (!screen) return fmt::format("{}: nothing is typed in it", script.string());
  const std::string picture = relay::tools::svg_of(*screen, first_comment(script));
  const std::string path = fs::path(script).replace_extension(".svg").string();
  if (only_check) {
    const bool is_new = relay::tests::text_of_file(path) == picture;
    return is_new ? "" : fmt::format("{} is old: run ./dev docs", path);
  }
  std::ofstream file(path, std::ios::binary);
  return (file << picture).flush() ? "" : fmt::format("cannot write {}", path);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_check = argc > 1 && std::string_view(argv[1]) == "--check";
  if (argc != 2 + only_check || !fs::is_directory(argv[1 + only_check])) {
    fmt::print(stderr, "usage: {} [--check] FOLDER\n", argv[0]);
    return 2;
  }
  return relay::tests::run_each(
      argv[0], scripts_in(argv[1 + only_check]),
      [&](const std::string& script) { return draw(script, only_check); });
}
