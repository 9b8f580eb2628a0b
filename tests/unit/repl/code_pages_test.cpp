// No page of the process is writable and executable at once while our native code is made and runs.

#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "repl/session.h"

namespace relay::repl {
namespace {

// The mappings that are both, but for those of libraries that make code of their own.
std::string writable_code() {
  std::ifstream maps("/proc/self/maps");
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find(' ');
    if (at != std::string::npos && line.compare(at + 1, 3, "rwx") == 0) found += line + "\n";
  }
  return found;
}

TEST_CASE("pages of native code are never writable and executable") {
  SessionOptions options;
  options.jit = interp::JitMode::Always;
  options.kernels = repl::LibraryKernels::Off;  // oneDNN's code is its own
  Session session(options);
  std::string seen;
  for (int i = 0; i < 5; ++i) {
    const auto value = session.evaluate("sum(for i < 100 { cast(i * " + std::to_string(i) +
                                        ", dtype=\"float32\") })");
    REQUIRE(value);
    seen += writable_code();
  }
  if (session.evaluator().statistics().kernels_compiled == 0) {
    WARN("librelay_jit.so is not there: native code is not tested");
    return;
  }
  CHECK(seen.empty());
}

}  // namespace
}  // namespace relay::repl
