#include "repl/completion/files.h"

#include <filesystem>
#include <system_error>

#include "repl/files.h"
#include "stdlib/library.h"

namespace relay::repl::completion {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostEntries = 2000;

void add_entries(const std::string& folder, bool shows_hidden, std::string_view ending,
                 std::vector<Name>& names) {
  std::error_code error;
  fs::directory_iterator entries(folder.empty() ? "." : folder, error);
  for (std::size_t i = 0; !error && entries != fs::directory_iterator() && i < kMostEntries; ++i) {
    const std::string name = entries->path().filename().string();
    std::error_code unknown;
    const bool is_folder = entries->is_directory(unknown) && !unknown;
    const bool is_hidden = name.starts_with(".") && !shows_hidden;
    if (!is_hidden && is_folder) names.push_back({name + "/", Group::Own, "folder"});
    if (!is_hidden && !is_folder && name.ends_with(ending)) names.push_back({name, Group::Own, ""});
    entries.increment(error);
  }
}

}  // namespace

std::size_t begin_of_last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

void add_files(const State& state, std::string_view typed, std::string_view ending,
               std::vector<Name>& names) {
  if (state.files.is_none()) return;
  const std::size_t last = begin_of_last_part(typed);
  add_entries(std::string(typed.substr(0, last)), typed.substr(last).starts_with("."), ending,
              names);
}

void add_imports(const State& state, std::string_view typed, std::vector<Name>& names) {
  add_files(state, typed, ".relay", names);
  const std::size_t last = begin_of_last_part(typed);
  const bool is_absolute = typed.starts_with("/");
  for (const std::string& folder : state.search_path) {
    if (state.files.is_none() || is_absolute) break;
    add_entries(folder + "/" + std::string(typed.substr(0, last)), false, ".relay", names);
  }
  if (last > 0) return;
  for (const stdlib::EmbeddedFile& file : stdlib::library_files())
    names.push_back({std::string(file.name), Group::Prelude, "standard library"});
}

DefinedNames names_of_file(const State& state, const std::string& path) {
  std::vector<std::string> places = {path};
  for (const std::string& folder : state.search_path) places.push_back(folder + "/" + path);
  for (const std::string& place : places) {
    std::error_code error;
    // What is no plain file could keep a reader waiting.
    if (state.files.is_none() || !fs::is_regular_file(place, error)) continue;
    if (const auto read = read_file(place, state.files)) return names_defined_in(*read);
  }
  for (const stdlib::EmbeddedFile& file : stdlib::library_files()) {
    if (file.name == path) return names_defined_in(file.text);
  }
  return {};
}

void add_names_of_file(const State& state, const std::string& path, std::vector<Name>& names) {
  const DefinedNames defined = names_of_file(state, path);
  for (const std::string& name : defined.values) names.push_back({name, Group::Own, ""});
  for (const std::string& name : defined.types) names.push_back({name, Group::Own, "a data type"});
}

void add_imported(const State& state, const std::vector<ImportedNames>& imports,
                  std::vector<Name>& names) {
  for (const ImportedNames& import : imports) {
    const std::string detail = "of " + import.path;
    const auto add = [&](const std::string& name) { names.push_back({name, Group::Own, detail}); };
    const DefinedNames defined = names_of_file(state, import.path);
    const std::string full = fs::path(import.path).stem().string() + ".";
    for (const std::string& name : import.names) add(name);
    for (const std::string& name : defined.values) {
      if (import.names.empty()) add(import.prefix.empty() ? name : import.prefix + "." + name);
      add(full + name);
    }
    // Constructors come with any import, under their own names.
    for (const std::string& name : defined.constructors) add(name);
  }
}

}  // namespace relay::repl::completion
