#pragma once

#include <string>

// Pages that say what a table of the program has.
namespace relay::tools {

std::string page_on_commands();  // docs/commands.md
// docs/passes.md; what passes do is shown by running them.
std::string page_on_passes();
std::string page_on_analyses();  // docs/analyses.md, in the same way

}  // namespace relay::tools
