#pragma once

#include <string>
#include <vector>

// Where imports are looked for, behind the folder of the program.
namespace relay::repl {

// The folders of a list like `a:b`, in order; none where it is null.
std::vector<std::string> folders_in(const char* list);
// These, and then those of the environment variable RELAY_PATH.
std::vector<std::string> with_usual_folders(std::vector<std::string> folders);

}  // namespace relay::repl
