#include "repl/part_command.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "repl/output.h"
#include "repl/report.h"
#include "repl/tools.h"

namespace relay::repl {

std::optional<int> answered(const PartCommand& command, const std::string& wrong, bool wants_help) {
  if (!wrong.empty()) {
    put_error(fmt::format("relay {}: {}\nusage: {}", command.name, wrong, command.usage));
    return kMisuse;
  }
  if (!wants_help) return std::nullopt;
  put_output(fmt::format("usage: {}{}", command.usage, command.help));
  return finish_output(0);
}

std::optional<int> refused(const PartCommand& command, const std::string& why) {
  if (why.empty()) return std::nullopt;
  put_error(fmt::format("relay {}: {}\n", command.name, why));
  return kMisuse;
}

std::string written_over(const std::string& written, const std::string& read) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(written, read, ignored)) return {};
  return fmt::format("`{}` would be written over: give another name, -o", read);
}

int carried_out(const std::function<bool(const Complain&)>& work) {
  Reporter reporter(ErrorFormat::Text, wants_color("auto", 2), false);
  int status = kProgramError;
  try {
    const Complain complain = [&](const auto& errors) { reporter.report(errors); };
    if (work(complain)) status = 0;
  } catch (const lang::InternalError& error) {
    reporter.internal_error(error.what());
  }
  return finish_output(status);
}

}  // namespace relay::repl
