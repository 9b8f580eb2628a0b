#include "notebook/kernel_spec.h"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "notebook/logo.h"
#include "repl/output.h"
#include "repl/tools.h"

namespace relay::notebook {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

fs::path kernel_folder(const std::optional<std::string>& prefix) {
  return data_folder(prefix) / "kernels" / "relay";
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw fs::filesystem_error("cannot write", path, std::make_error_code(std::errc::io_error));
}

template <class Body>
int reporting(const Body& body) {
  try {
    return body();
  } catch (const fs::filesystem_error& error) {
    repl::put_error(fmt::format("relay: {}: {}\n", error.path1().string(), error.code().message()));
    return repl::kProgramError;
  }
}

}  // namespace

fs::path data_folder(const std::optional<std::string>& prefix) {
  if (prefix) return fs::path(*prefix) / "share" / "jupyter";
  if (const std::string own = variable("JUPYTER_DATA_DIR"); !own.empty()) return own;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty())
    return fs::path(data) / "jupyter";
  return fs::path(variable("HOME")) / ".local" / "share" / "jupyter";
}

std::string kernel_json(const std::string& program) {
  nlohmann::ordered_json spec = {{"argv", {program, "run", "-f", "{connection_file}"}},
                                 {"display_name", "Relay"},
                                 {"language", "relay"},
                                 {"interrupt_mode", "message"},
                                 {"metadata", {{"debugger", false}}}};
  return spec.dump(2) + "\n";
}

int install_kernel(const std::optional<std::string>& prefix) {
  return reporting([&] {
    const fs::path folder = kernel_folder(prefix);
    fs::create_directories(folder);
    write(folder / "kernel.json", kernel_json(fs::read_symlink("/proc/self/exe").string()));
    write(folder / "logo-svg.svg", logo_svg());
    for (const int size : {32, 64})
      write(folder / fmt::format("logo-{}x{}.png", size, size), logo_png(size));
    repl::put_output(fmt::format("installed {}\n", folder.string()));
    return 0;
  });
}

int uninstall_kernel(const std::optional<std::string>& prefix) {
  return reporting([&] {
    const fs::path folder = kernel_folder(prefix);
    if (!fs::exists(folder / "kernel.json")) {
      repl::put_error(fmt::format("relay: {} is not there\n", folder.string()));
      return repl::kProgramError;
    }
    fs::remove_all(folder);
    repl::put_output(fmt::format("removed {}\n", folder.string()));
    return 0;
  });
}

}  // namespace relay::notebook
