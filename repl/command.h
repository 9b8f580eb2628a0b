#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "repl/session.h"

namespace relay::repl {

struct CommandOutcome {
  std::string text;
  std::vector<lang::Diagnostic> errors;
  bool quit = false;
  // How an evaluation goes on that has stopped.
  std::optional<Session::Resume> resume = std::nullopt;
  // What is left to do for whoever runs entries and shows values; `argument` is the command's.
  enum class Request { None, Load, Reload, Save, Edit, Bug };
  Request request = Request::None;
  std::string argument = {};
  std::optional<Table> table = std::nullopt;  // of which `text` is the text
};

// One `:command` of the prompt: all that the prompt, `:help`, completion and docs/commands.md know
// of it (repl/command_table.cpp).
struct Command {
  // What it is for, in the order of `:help`.
  enum class Group { See, WentWrong, Time, Ask, Files, Session };
  std::string_view name;  // ":type"
  Group group;
  std::string_view usage;    // "EXPR"; in brackets if it may be left out; empty: takes nothing
  std::string_view summary;  // a line
  std::string_view text;     // a paragraph: what is worth knowing besides
  std::string_view example;  // a transcript, as on a page: `…` is any text
  CommandOutcome (*run)(Session& session, std::string_view argument);
};
std::span<const Command> commands();

// What a name, or the beginning of one, means; fails with BadCommand unless that is one command.
// The `:` may be missing.
lang::Result<const Command*> find_command(std::string_view name);

// The command that a line of the prompt stands for, where it is one: itself if it begins with `:`;
// of `?name` it is `:doc name`, of `name?` `:info name`, of `name??` `:source name`, of `?`
// `:help`.
std::optional<std::string> as_command(std::string_view line);

// A line that begins with `:`. Names may be abbreviated as long as they are unambiguous.
CommandOutcome run_command(Session& session, std::string_view line);

// `:help` and `:help COMMAND`.
std::string describe_commands();
std::string describe_command(const Command& command);

}  // namespace relay::repl
