#include "repl/commands.h"

namespace relay::repl {

namespace {

CommandOutcome request(CommandOutcome::Request request, std::string_view argument) {
  CommandOutcome outcome;
  outcome.request = request;
  outcome.argument = argument;
  return outcome;
}

}  // namespace

CommandOutcome run_load(Session&, std::string_view argument) {
  return request(CommandOutcome::Request::Load, argument);
}

CommandOutcome run_reload(Session&, std::string_view argument) {
  return request(CommandOutcome::Request::Reload, argument);
}

CommandOutcome run_save(Session&, std::string_view argument) {
  return request(CommandOutcome::Request::Save, argument);
}

CommandOutcome run_edit(Session&, std::string_view argument) {
  return request(CommandOutcome::Request::Edit, argument);
}

}  // namespace relay::repl
