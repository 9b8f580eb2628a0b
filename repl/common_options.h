#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/file_access.h"
#include "repl/report.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

// Options that several commands take, `relay` itself and those that are programs of their own
// (repl/parts.h), each defined once.
namespace relay::repl {

// How errors are written.
struct ReportOptions {
  std::string error_format = "text", color = "auto";

  // `hints`: a person reads standard error, who is told once where to read more.
  Reporter reporter(bool hints) const;
};

// What a run may take.
struct LimitOptions {
  std::optional<std::size_t> memory;  // bytes
  double seconds = 0;                 // 0: any
};

// What a program may open.
struct FileOptions {
  std::vector<std::string> search_path;  // of imports
  bool no_files = false;
  std::string root;  // the only folder whose files are opened; empty: all

  formats::FileAccess access() const;
  // May the program open some files only, or none?
  bool is_confined() const { return no_files || !root.empty(); }
};

void define_options(CLI::App& app, ReportOptions& into);
void define_options(CLI::App& app, LimitOptions& into);
void define_options(CLI::App& app, FileOptions& into);

}  // namespace relay::repl
