#include <fmt/format.h>

#include "repl/command_parts.h"
#include "repl/commands.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

CommandOutcome resume(Session& session, Session::Resume how) {
  if (!session.is_stopped())
    return failed(Diagnostic(DiagnosticKind::BadCommand, "no evaluation is stopped"));
  CommandOutcome outcome;
  outcome.resume = how;
  return outcome;
}

}  // namespace

CommandOutcome run_break(Session& session, std::string_view argument) {
  if (argument.empty()) return output(session.breakpoints());
  const auto [word, rest] = split_word(argument);
  if (word == "off") return outcome_of(session.clear_breakpoints(std::string(plain_name(rest))));
  if (rest.empty()) return outcome_of(session.set_breakpoint(std::string(plain_name(argument))));
  return failed(Diagnostic(DiagnosticKind::BadCommand, "usage: :break [NAME[:LINE]|off [NAME]]"));
}

CommandOutcome run_frame(Session& session, std::string_view argument) {
  return outcome_of(session.frame(std::string(argument)));
}

CommandOutcome run_continue(Session& session, std::string_view) {
  return resume(session, Session::Resume::Continue);
}

CommandOutcome run_abort(Session& session, std::string_view) {
  return resume(session, Session::Resume::GiveUp);
}

CommandOutcome run_nanbreak(Session& session, std::string_view argument) {
  if (argument == "on" || argument == "off") session.set_nanbreak(argument == "on");
  if (argument.empty() || argument == "on" || argument == "off")
    return output(fmt::format("nanbreak is {}\n", session.has_nanbreak() ? "on" : "off"));
  return outcome_of(session.nanbreak(std::string(argument)));
}

CommandOutcome run_bug(Session&, std::string_view argument) {
  CommandOutcome outcome;
  outcome.request = CommandOutcome::Request::Bug;
  outcome.argument = argument;
  return outcome;
}

}  // namespace relay::repl
