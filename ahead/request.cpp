#include "ahead/request.h"

#include <filesystem>

#include "ahead/c_names.h"

namespace relay::ahead {

std::string object_name(const Request& request) {
  std::string stem = std::filesystem::path(request.output).stem().string();
  if (stem.starts_with("lib") && stem.size() > 3) stem.erase(0, 3);
  std::string name = c_prefix(stem);
  if (name.starts_with("relay_built")) name += "_object";  // what is inside is called so
  return name;
}

std::string header_path(const Request& request) {
  const std::filesystem::path output(request.output);
  return (output.parent_path() / (object_name(request) + ".h")).string();
}

}  // namespace relay::ahead
