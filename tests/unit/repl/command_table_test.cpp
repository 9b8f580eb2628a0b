// What the table of commands promises to `:help`, to completion and to docs/commands.md.

#include <set>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "lang/utf8.h"
#include "repl/command.h"
#include "repl/session.h"

namespace relay::repl {
namespace {

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, lang::code_points(line));
  return longest;
}

TEST_CASE("each command has a line, a paragraph and its help") {
  Session session{SessionOptions{}};
  std::set<std::string_view> names;
  for (const Command& command : commands()) {
    INFO(command.name);
    CHECK(names.insert(command.name).second);
    CHECK(command.name.starts_with(':'));
    CHECK(!command.summary.ends_with('.'));
    CHECK(command.text.ends_with('.'));
    const std::string name(command.name);
    const CommandOutcome help = run_command(session, ":help " + name.substr(1));
    CHECK(help.errors.empty());
    CHECK(help.text.starts_with(name));
    CHECK(help.text == run_command(session, ":help " + name).text);
    CHECK(describe_commands().find("  " + name) != std::string::npos);
  }
}

TEST_CASE("what `:help` says fits into 80 columns") {
  CHECK(longest_line(describe_commands()) <= 80);
  for (const Command& command : commands()) {
    INFO(command.name);
    CHECK(longest_line(describe_command(command)) <= 80);
  }
}

}  // namespace
}  // namespace relay::repl
