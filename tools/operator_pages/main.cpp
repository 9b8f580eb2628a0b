// Writes the pages on operators, or says which of them are old.
//
//   operator_pages [--check] FACTS CASES-FOLDER FOLDER
//
// Exit code 1: with --check, a page is not what would be written now. 2: the call is wrong.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/operator_pages/pages.h"

namespace {

namespace fs = std::filesystem;
using Pages = std::map<std::string, std::string>;

Pages pages_in(const fs::path& folder) {
  Pages pages;
  if (!fs::exists(folder)) return pages;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    pages[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return pages;
}

int check(const Pages& wanted, const Pages& found) {
  int old = 0;
  for (const auto& [name, text] : wanted) {
    const auto page = found.find(name);
    if (page != found.end() && page->second == text) continue;
    fmt::print("{} is {}\n", name, page == found.end() ? "missing" : "old");
    ++old;
  }
  for (const auto& [name, text] : found) {
    if (wanted.contains(name)) continue;
    fmt::print("{} is not needed any more\n", name);
    ++old;
  }
  if (old > 0) fmt::print("run ./dev docs\n");
  return old > 0 ? 1 : 0;
}

void write(const Pages& wanted, const Pages& found, const fs::path& folder) {
  fs::create_directories(folder);
  for (const auto& [name, text] : found) {
    if (!wanted.contains(name)) fs::remove(folder / name);
  }
  for (const auto& [name, text] : wanted) {
    std::ofstream file(folder / name, std::ios::binary);
    if (!(file << text).flush()) throw std::runtime_error("cannot write " + name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_check = argc > 1 && std::string_view(argv[1]) == "--check";
  if (argc != 4 + only_check) {
    fmt::print(stderr, "usage: {} [--check] FACTS CASES-FOLDER FOLDER\n", argv[0]);
    return 2;
  }
  char** paths = argv + 1 + only_check;
  try {
    const Pages wanted = relay::tools::operator_pages({paths[0], paths[1]});
    const Pages found = pages_in(paths[2]);
    if (only_check) return check(wanted, found);
    write(wanted, found, paths[2]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
