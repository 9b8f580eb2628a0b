#include "notebook/kernel_spec.h"

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

using namespace relay::notebook;

TEST_CASE("where Jupyter looks for kernels", "[notebook]") {
  setenv("HOME", "/home/ada", 1);
  unsetenv("JUPYTER_DATA_DIR");
  unsetenv("XDG_DATA_HOME");
  CHECK(data_folder(std::nullopt) == "/home/ada/.local/share/jupyter");
  setenv("XDG_DATA_HOME", "/data", 1);
  CHECK(data_folder(std::nullopt) == "/data/jupyter");
  setenv("JUPYTER_DATA_DIR", "/own", 1);
  CHECK(data_folder(std::nullopt) == "/own");
  CHECK(data_folder("/usr/local") == "/usr/local/share/jupyter");
}

TEST_CASE("what Jupyter is told of the kernel", "[notebook]") {
  CHECK(kernel_json("/usr/lib/relay/relay-kernel") == R"({
  "argv": [
    "/usr/lib/relay/relay-kernel",
    "run",
    "-f",
    "{connection_file}"
  ],
  "display_name": "Relay",
  "language": "relay",
  "interrupt_mode": "message",
  "metadata": {
    "debugger": false
  }
}
)");
}
