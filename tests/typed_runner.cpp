// Scripts of keys and screens: types at `relay` on a pseudo-terminal and compares what is shown.
//
//   typed_runner tests/repl/typed/NAME.in...

#include <exception>

#include <fmt/format.h>

#include "tests/support/typed_script.h"

int main(int argc, char** argv) {
  int failed = 0;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string wrong = relay::tests::run_typed_script(argv[i]);
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
