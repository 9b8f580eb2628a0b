#include "repl/search_path.h"

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>

namespace relay::repl {

std::vector<std::string> folders_in(const char* list) {
  std::vector<std::string> folders;
  std::istringstream rest(list ? list : "");
  for (std::string folder; std::getline(rest, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

std::vector<std::string> with_usual_folders(std::vector<std::string> folders) {
  std::vector<std::string> usual = folders_in(std::getenv("RELAY_PATH"));
  folders.insert(folders.end(), std::make_move_iterator(usual.begin()),
                 std::make_move_iterator(usual.end()));
  return folders;
}

}  // namespace relay::repl
