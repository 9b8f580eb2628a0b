#include <fmt/format.h>

#include "opt/analysis.h"
#include "opt/pass.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/display.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

CommandOutcome run_type(Session& session, std::string_view argument) {
  return outcome_of(session.type_of(std::string(argument)));
}

CommandOutcome run_print(Session& session, std::string_view argument) {
  const auto value = session.evaluate(std::string(argument));
  if (!value) return {"", value.errors(), false};
  return output(describe_all(*value, session.columns()) + "\n");
}

CommandOutcome run_show(Session& session, std::string_view argument) {
  const auto [stage, text] = split_word(argument);
  if (text.empty()) {
    return failed(
        Diagnostic(DiagnosticKind::BadCommand, "`:show` needs a stage and an expression")
            .note(fmt::format("note: the stages are {}", fmt::join(Session::stages(), ", "))));
  }
  return outcome_of(session.show(std::string(stage), std::string(text)));
}

CommandOutcome run_opt(Session& session, std::string_view argument) {
  if (argument.empty()) return output(opt::describe_passes());
  const auto [word, rest] = split_word(argument);
  const bool shows_differences = word == "--diff";
  return outcome_of(session.optimised({.passes = std::string(shows_differences ? rest : argument),
                                       .shows_differences = shows_differences}));
}

CommandOutcome run_analyze(Session& session, std::string_view argument) {
  if (argument.empty()) return output(opt::describe_analyses());
  const auto [name, text] = split_word(argument);
  auto found = session.optimised(
      {.passes = {}, .expression = std::string(text), .analysis = std::string(name)});
  if (!found) return {"", found.errors(), false};
  return output(std::move(found->text));
}

CommandOutcome run_grad(Session& session, std::string_view argument) {
  return outcome_of(session.derivative(std::string(argument), lang::DiffMode::Grad));
}

CommandOutcome run_trace(Session& session, std::string_view argument) {
  auto trace = session.trace(std::string(argument));
  if (!trace) return {"", trace.errors(), false};
  CommandOutcome outcome;
  outcome.text = table_text(trace->table);
  outcome.errors = std::move(trace->errors);
  outcome.table = std::move(trace->table);
  return outcome;
}

}  // namespace relay::repl
