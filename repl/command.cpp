#include "repl/command.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/op.h"
#include "repl/columns.h"
#include "repl/command_parts.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

constexpr std::size_t kWidth = 79;

std::string call_of(const Command& command) {
  return command.usage.empty() ? std::string(command.name)
                               : fmt::format("{} {}", command.name, command.usage);
}

Diagnostic no_command(const std::string& name, const std::vector<std::string>& names) {
  Diagnostic diagnostic(DiagnosticKind::BadCommand, fmt::format("there is no command `{}`", name));
  const auto close = lang::closest_names(name, names);
  diagnostic.note(close.empty() ? "help: `:help` lists the commands"
                                : fmt::format("help: did you mean `{}`?", close.front()));
  return diagnostic;
}

}  // namespace

lang::Result<const Command*> find_command(std::string_view given) {
  const std::string name = given.starts_with(':') ? std::string(given) : fmt::format(":{}", given);
  std::vector<const Command*> matches;
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.emplace_back(command.name);
    if (command.name == name) return &command;
    if (name.size() > 1 && command.name.starts_with(name)) matches.push_back(&command);
  }
  if (matches.empty()) return no_command(name, names);
  if (matches.size() == 1) return matches.front();
  std::vector<std::string_view> candidates;
  for (const Command* match : matches) candidates.push_back(match->name);
  return Diagnostic(DiagnosticKind::BadCommand,
                    fmt::format("`{}` could be {}", name, fmt::join(candidates, " or ")));
}

std::optional<std::string> as_command(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with(':')) return std::string(line);
  if (line == "?") return ":help";
  // No blanks within, so that it can be no expression with a `?` in it; the keyword `match?` is one
  // that an entry may begin with.
  const bool is_word = line.find_first_of(" \t([{\"/") == std::string_view::npos;
  if (!is_word || line.find('?') == std::string_view::npos || line == "match?") return std::nullopt;
  const std::size_t begin = line.find_first_not_of('?');
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = line.find_last_not_of('?') + 1;
  const std::string name(line.substr(begin, end - begin));
  const std::size_t marks = line.size() - name.size();
  if (name.find('?') != std::string::npos || marks > 2) return std::nullopt;
  if (begin > 0 && end < line.size()) return std::nullopt;
  return (marks == 2 ? ":source " : begin > 0 ? ":doc " : ":info ") + name;
}

CommandOutcome run_command(Session& session, std::string_view line) {
  const auto [word, argument] = split_word(line);
  const auto found = find_command(word);
  if (!found) return {"", found.errors()};
  const Command& command = **found;
  if (argument.empty() && !command.usage.empty() && command.usage.front() != '[') {
    return failed(
        Diagnostic(DiagnosticKind::BadCommand, fmt::format("usage: {}", call_of(command))));
  }
  return command.run(session, argument);
}

namespace {

std::string_view title_of(Command::Group group) {
  switch (group) {
    case Command::Group::See:
      return "To see what a program is and does:";
    case Command::Group::WentWrong:
      return "When it goes wrong:";
    case Command::Group::Time:
      return "How long it takes, and why:";
    case Command::Group::Ask:
      return "To ask what there is:";
    case Command::Group::Files:
      return "Files:";
    case Command::Group::Session:
      return "The session:";
  }
  return "";
}

}  // namespace

std::string describe_commands() {
  std::string text =
      "Type an expression, `let x = e`, `def f(x) { e }` or `type T { A, B(int32) }`.\n";
  std::optional<Command::Group> group;
  for (const Command& command : commands()) {
    if (group != command.group) text += fmt::format("{}\n", title_of(command.group));
    group = command.group;
    text += fmt::format("  {:<23} {}\n", call_of(command), command.summary);
  }
  text += "`:help COMMAND` says more of one, with an example.\n";
  text +=
      "Ctrl-C stops an evaluation (pressed three times without an answer, the program),\n"
      "Ctrl-D leaves.\n";
  return text;
}

std::string describe_command(const Command& command) {
  std::string text = fmt::format("{}\n{}\n\n{}\n", call_of(command), command.summary,
                                 wrapped(command.text, kWidth));
  if (command.example.empty()) return text;
  text += "\n";
  for (std::string_view rest = command.example; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("  {}\n", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

}  // namespace relay::repl
