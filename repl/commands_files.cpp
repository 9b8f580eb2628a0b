#include "repl/command_parts.h"
#include "repl/commands.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

CommandOutcome run_load(Session&, std::string_view argument) {
  CommandOutcome outcome;
  outcome.file = argument;
  return outcome;
}

}  // namespace relay::repl
