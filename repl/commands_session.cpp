#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/limits.h"
#include "repl/run_report.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

CommandOutcome run_limit(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_limits(session));
  const auto [what, amount] = split_word(argument);
  if (what == "memory") {
    if (const auto bytes = parse_bytes(amount)) {
      lang::set_memory_limit(*bytes);
      return output(describe_limits(session));
    }
  } else if (what == "time") {
    if (const auto seconds = parse_seconds(amount)) {
      session.set_seconds(*seconds);
      return output(describe_limits(session));
    }
  }
  return failed(Diagnostic(DiagnosticKind::BadCommand,
                           "`:limit` takes `memory` and a size, or `time` and a time")
                    .note("help: `:limit memory 2G`, `:limit time 500ms`, `:limit time none`"));
}

CommandOutcome run_stats(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_run(session));
  if (argument == "memory") return output(describe_memory(session));
  if (argument == "passes") return output(session.pass_times());
  return failed(Diagnostic(DiagnosticKind::BadCommand, "usage: :stats [memory|passes]"));
}

CommandOutcome run_jit(Session& session, std::string_view argument) {
  if (!argument.empty() && argument.front() == '@') argument.remove_prefix(1);
  return outcome_of(session.compiled(std::string(argument)));
}

CommandOutcome run_forget(Session& session, std::string_view argument) {
  return outcome_of(session.forget(std::string(plain_name(argument))));
}

CommandOutcome run_help(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_commands());
  const auto command = find_command(argument);
  if (command) return output(describe_command(**command));
  if (!argument.starts_with(':')) {
    CommandOutcome of_name = run_doc(session, argument);
    if (of_name.errors.empty()) return of_name;
  }
  return {"", command.errors()};
}

CommandOutcome run_quit(Session&, std::string_view) { return {"", {}, true}; }

}  // namespace relay::repl
