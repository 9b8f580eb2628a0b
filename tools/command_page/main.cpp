// Writes docs/commands.md from the table of commands, or says whether it is old.
//
//   command_page [--check] FILE
//
// Exit code 1: with --check, the page is not what would be written now. 2: the call is wrong.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "repl/command.h"

namespace {

std::string page() {
  std::string text =
      "# The commands of the prompt\n\n"
      "A line that begins with `:` is a command. Its name may be abbreviated as long as one alone "
      "begins so. `:help COMMAND` shows what stands\nhere; this page is made of the same table by "
      "`./dev docs`.\n\n"
      "| command | what it does |\n| --- | --- |\n";
  for (const relay::repl::Command& command : relay::repl::commands()) {
    text +=
        fmt::format("| [`{}{}{}`](#{}) | {} |\n", command.name, command.usage.empty() ? "" : " ",
                    command.usage, command.name.substr(1), command.summary);
  }
  for (const relay::repl::Command& command : relay::repl::commands()) {
    text +=
        fmt::format("\n## {}\n\n`{}{}{}`: {}.\n\n{}\n", command.name.substr(1), command.name,
                    command.usage.empty() ? "" : " ", command.usage, command.summary, command.text);
    if (!command.example.empty()) text += fmt::format("\n```relay\n{}\n```\n", command.example);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_check = argc > 1 && std::string_view(argv[1]) == "--check";
  if (argc != 2 + only_check) {
    fmt::print(stderr, "usage: {} [--check] FILE\n", argv[0]);
    return 2;
  }
  const char* const path = argv[1 + only_check];
  const std::string wanted = page();
  if (only_check) {
    std::ifstream file(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    if (found == wanted) return 0;
    fmt::print("{} is old: run ./dev docs\n", path);
    return 1;
  }
  std::ofstream file(path, std::ios::binary);
  if ((file << wanted).flush()) return 0;
  fmt::print(stderr, "{}: cannot write {}\n", argv[0], path);
  return 1;
}
