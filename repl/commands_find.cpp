#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/op.h"
#include "repl/columns.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/environment.h"

namespace relay::repl {

namespace {

constexpr std::size_t kName = 28;

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// Of one of Relay's support levels.
CommandOutcome operators_of_level(const Session& session, std::string_view text) {
  std::set<int> levels;
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (!op->is_step) levels.insert(op->level);
  }
  int level = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), level);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !levels.contains(level)) {
    return failed(lang::Diagnostic(lang::DiagnosticKind::BadCommand,
                                   "`--level` needs the number of a level of operators")
                      .note(fmt::format("note: there are {}; 0: those that Relay has not",
                                        fmt::join(levels, ", "))));
  }
  std::vector<Row> operators;
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (op->level == level && !op->is_step) operators.push_back({op->name, first_line(op->doc)});
  }
  return output(in_columns(operators, kName, session.columns()));
}

}  // namespace

CommandOutcome run_ops(Session& session, std::string_view argument) {
  if (argument.starts_with("--level"))
    return operators_of_level(session, split_word(argument).second);
  std::vector<Row> operators;
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (op->name.find(argument) != std::string::npos && !op->is_step)
      operators.push_back({op->name, first_line(op->doc)});
  }
  std::vector<Row> own;
  for (const lang::Definition* each : session.module().definitions()) {
    if (each->function && is_written(*each, session.module()) &&
        each->name.find(argument) != std::string::npos)
      own.push_back({each->name, first_line(each->doc)});
  }
  std::string text = in_columns(operators, kName, session.columns());
  if (!own.empty()) text += "yours:\n" + in_columns(own, kName, session.columns());
  return output(text.empty() ? fmt::format("no operator has `{}` in its name\n", argument) : text);
}

CommandOutcome run_env(Session& session, std::string_view) {
  return outcome_of(session.environment());
}

CommandOutcome run_apropos(Session& session, std::string_view argument) {
  const std::vector<Row> rows = find_apropos(std::string(argument), session.module());
  if (rows.empty()) return output(fmt::format("nothing here speaks of `{}`\n", argument));
  return output(in_columns(rows, kName, session.columns()));
}

}  // namespace relay::repl
