#pragma once

#include <string>

// Pages that say what a table of the program has.
namespace relay::tools {

std::string page_on_commands();  // docs/commands.md
// docs/passes.md; what passes do is shown by running them.
std::string page_on_passes();
std::string page_on_analyses();  // docs/analyses.md, in the same way

std::string page_on_imports();  // docs/importing_onnx.md
std::string page_on_exports();  // docs/exporting_onnx.md

// What several of them do with the examples of their tables.
// The items, one in a line, and the command, as they are typed at the prompt.
std::string session(const std::string& items, const std::string& command);
// The page with what its sessions print. Throws std::runtime_error where one goes wrong.
std::string with_outputs(const std::string& page);

}  // namespace relay::tools
