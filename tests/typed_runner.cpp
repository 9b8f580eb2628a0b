// Scripts of keys and screens: types at `relay` on a pseudo-terminal and compares what is shown.
//
//   typed_runner tests/repl/typed/NAME.in...
//   typed_runner --page PAGE.md...             types the transcripts of pages instead

#include <string>
#include <string_view>

#include "tests/support/run_each.h"
#include "tests/support/typed_page.h"
#include "tests/support/typed_script.h"

int main(int argc, char** argv) {
  const bool are_pages = argc > 1 && std::string_view(argv[1]) == "--page";
  return relay::tests::run_each(
      argv[0], {argv + 1 + are_pages, argv + argc}, [&](const std::string& path) {
        return are_pages ? relay::tests::type_page(path) : relay::tests::run_typed_script(path);
      });
}
