#pragma once

#include <filesystem>
#include <optional>
#include <string>

// What tells Jupyter of a kernel: a folder `kernels/relay` in one of those where it looks.
namespace relay::notebook {

// The folder of data of Jupyter: below a prefix, else the user's own, as $JUPYTER_DATA_DIR,
// $XDG_DATA_HOME and the home folder say.
std::filesystem::path data_folder(const std::optional<std::string>& prefix);

// kernel.json, for this program.
std::string kernel_json(const std::string& program);

// Both return the exit code of the program, and say what they did.
int install_kernel(const std::optional<std::string>& prefix);
int uninstall_kernel(const std::optional<std::string>& prefix);

}  // namespace relay::notebook
