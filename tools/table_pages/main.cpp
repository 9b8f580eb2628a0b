// Writes a page that is made of a table of the program, or says whether it is old.
//
//   table_pages [--check] commands|passes|analyses|imports|exports FILE
//
// Exit code 1: with --check, the page is not what would be written now. 2: the call is wrong.

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/table_pages/pages.h"

namespace {

int run(bool only_check, const std::string& wanted, const char* path) {
  if (only_check) {
    std::ifstream file(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    if (found == wanted) return 0;
    fmt::print("{} is old: run ./dev docs\n", path);
    return 1;
  }
  std::ofstream file(path, std::ios::binary);
  if ((file << wanted).flush()) return 0;
  fmt::print(stderr, "cannot write {}\n", path);
  return 1;
}

struct Page {
  std::string_view table;
  std::string (*write)();
};
constexpr std::array kPages = {
    Page{"commands", relay::tools::page_on_commands},
    Page{"passes", relay::tools::page_on_passes},
    Page{"analyses", relay::tools::page_on_analyses},
    Page{"imports", relay::tools::page_on_imports},
    Page{"exports", relay::tools::page_on_exports},
};

}  // namespace

int main(int argc, char** argv) {
  const bool only_check = argc > 1 && std::string_view(argv[1]) == "--check";
  const std::string_view table = argc == 3 + only_check ? argv[1 + only_check] : "";
  const auto* const page = std::find_if(kPages.begin(), kPages.end(),
                                        [&](const Page& each) { return each.table == table; });
  if (page == kPages.end()) {
    fmt::print(stderr, "usage: {} [--check] commands|passes|analyses|imports|exports FILE\n",
               argv[0]);
    return 2;
  }
  try {
    return run(only_check, page->write(), argv[2 + only_check]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}
