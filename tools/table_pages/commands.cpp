#include <fmt/format.h>

#include "repl/command.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

std::string page_on_commands() {
  std::string text =
      "# The commands of the prompt\n\n"
      "A line that begins with `:` is a command. Its name may be abbreviated as long as one alone "
      "begins so. `:help COMMAND` shows what stands\nhere; this page is made of the same table by "
      "`./dev docs`.\n\n"
      "| command | what it does |\n| --- | --- |\n";
  for (const repl::Command& command : repl::commands()) {
    text +=
        fmt::format("| [`{}{}{}`](#{}) | {} |\n", command.name, command.usage.empty() ? "" : " ",
                    command.usage, command.name.substr(1), command.summary);
  }
  for (const repl::Command& command : repl::commands()) {
    text +=
        fmt::format("\n## {}\n\n`{}{}{}`: {}.\n\n{}\n", command.name.substr(1), command.name,
                    command.usage.empty() ? "" : " ", command.usage, command.summary, command.text);
    if (!command.example.empty()) text += fmt::format("\n```relay\n{}\n```\n", command.example);
  }
  return text;
}

}  // namespace relay::tools
