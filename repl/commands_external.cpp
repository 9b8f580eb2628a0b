#include "repl/command_parts.h"
#include "repl/commands.h"

namespace relay::repl {

CommandOutcome run_partition(Session& session, std::string_view argument) {
  const auto [names, text] = split_word(argument);
  return outcome_of(session.partitioned(std::string(names), std::string(text)));
}

CommandOutcome run_why(Session& session, std::string_view argument) {
  return outcome_of(session.who_runs(std::string(argument)));
}

CommandOutcome run_plugin(Session& session, std::string_view argument) {
  if (argument.empty()) return outcome_of(session.external_compilers());
  return outcome_of(session.add_plugin(std::string(argument)));
}

}  // namespace relay::repl
