#include <sstream>
#include <stdexcept>

#include "tests/support/page.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

std::string session(const std::string& items, const std::string& command) {
  std::string text;
  std::istringstream lines(items);
  for (std::string item; std::getline(lines, item);) text += "relay> " + item + "\n";
  return "```relay\n" + text + "relay> " + command + "\n```\n";
}

std::string with_outputs(const std::string& page) {
  tests::PageRun run = tests::run_page(page, interp::JitMode::Off);
  if (!run.problems.empty()) throw std::runtime_error(run.problems.front());
  return run.text;
}

}  // namespace relay::tools
