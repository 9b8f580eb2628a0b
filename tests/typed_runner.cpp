// Scripts of keys and screens: types at `relay` on a pseudo-terminal and compares what is shown.
//
//   typed_runner tests/repl/typed/NAME.in...
//   typed_runner --page PAGE.md...             types the transcripts of pages instead

#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/support/typed_page.h"
#include "tests/support/typed_script.h"

int main(int argc, char** argv) {
  int failed = 0;
  try {
    const bool are_pages = argc > 1 && std::string_view(argv[1]) == "--page";
    for (int i = 1 + are_pages; i < argc; ++i) {
      const std::string wrong =
          are_pages ? relay::tests::type_page(argv[i]) : relay::tests::run_typed_script(argv[i]);
      if (wrong.empty()) continue;
      ++failed;
      fmt::print("{}\n", wrong);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
  return failed > 0 ? 1 : 0;
}
