#include "tests/support/run_each.h"

#include <cstdio>
#include <exception>

#include <fmt/format.h>

namespace relay::tests {

int run_each(const char* program, const std::vector<std::string>& names,
             const std::function<std::string(const std::string& name)>& check) {
  bool all_right = true;
  try {
    for (const std::string& name : names) {
      const std::string wrong = check(name);
      if (wrong.empty()) continue;
      all_right = false;
      fmt::print("{}\n", wrong);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 2;
  }
  return all_right ? 0 : 1;
}

}  // namespace relay::tests
