#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/file_access.h"
#include "repl/report.h"

// What `relay` does with a file besides running it. Each returns the exit code of the program.
namespace relay::repl {

inline constexpr int kProgramError = 1;
inline constexpr int kMisuse = 2;
inline constexpr int kInterrupted = 130;  // as of a program that SIGINT ends

// `relay check FILE…`: prints every definition of the files with its inferred type, and runs
// nothing. What is opened are the files and their imports: the type of a `load` that does not say
// its dtype and shape stays open, and a warning says so.
int check_files(const std::vector<std::string>& paths, const std::vector<std::string>& search_path,
                const formats::FileAccess& files, Reporter& reporter);

struct FormatRequest {
  std::vector<std::string> paths;
  bool write = false;
  bool check = false;
  bool converts = false;  // to the other notation
};

// `relay fmt FILE…`: prints the file in its canonical layout; with `write` puts it back; with
// `check` names the files that are not laid out so, which is an error. A file with a syntax error
// is left alone.
int format_files(const FormatRequest& request, Reporter& reporter);

// `relay --explain KIND`.
int explain_kind(const std::string& name, Reporter& reporter);

// `relay WORD …` where WORD is neither a command nor a file: says which commands there are.
bool is_unknown_command(const std::string& word);
int report_unknown_command(const std::string& word, Reporter& reporter);

}  // namespace relay::repl
