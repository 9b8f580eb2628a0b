#include "repl/part_command.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lang/memory.h"
#include "lang/stop.h"
#include "lang/utf8.h"
#include "repl/deadline.h"
#include "repl/output.h"
#include "repl/search_path.h"
#include "repl/tools.h"

namespace relay::repl {

PartCommand::PartCommand(std::string_view name, std::string_view help)
    : name_(name), line_(std::string(help), fmt::format("relay {}", name)) {
  define_options(line_, report_);
}

void PartCommand::add_repeated(const std::string& names, const std::string& help,
                               const std::string& form,
                               std::function<bool(const std::string&)> take) {
  const auto take_all = [names, form,
                         take = std::move(take)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (!take(text))
        throw CLI::ValidationError(names, fmt::format("takes {}, and not `{}`", form, text));
    }
  };
  line_.add_option_function<std::vector<std::string>>(names, take_all, help)
      ->allow_extra_args(false);
}

void PartCommand::define_run_options() {
  define_options(line_, limits_);
  define_options(line_, files_);
}

std::optional<int> PartCommand::read(int count, char** texts) {
  line_.allow_extras();
  try {
    line_.parse(count, texts);
  } catch (const CLI::CallForHelp&) {
    put_output(line_.help());
    return finish_output(0);
  } catch (const CLI::ParseError& error) {
    return misuse(error.what());
  }
  const std::vector<std::string> rest = line_.remaining();
  if (rest.empty()) return std::nullopt;
  const bool is_option = rest.front().size() > 1 && rest.front().front() == '-';
  return misuse(is_option ? fmt::format("unknown option {}", rest.front())
                          : fmt::format("`{}` is too much: one file at a time", rest.front()));
}

std::optional<int> PartCommand::refused(const std::string& why) const {
  if (why.empty()) return std::nullopt;
  put_error(fmt::format("relay {}: {}\n", name_, lang::printable(why)));
  return kMisuse;
}

int PartCommand::misuse(std::string_view what) const {
  put_error(fmt::format("relay {0}: {1} (relay {0} --help says what it takes)\n", name_,
                        lang::printable(what)));
  return kMisuse;
}

SessionOptions PartCommand::session_options() {
  SessionOptions options;
  options.search_path = with_usual_folders(files_.search_path);
  options.files = files_.access();
  return options;
}

int PartCommand::carried_out(const std::function<bool(const Complain&)>& work) {
  if (limits_.memory) lang::set_memory_limit(*limits_.memory);
  Reporter reporter = report_.reporter(false);
  int status = kProgramError;
  try {
    const Deadline deadline(limits_.seconds);
    const Complain complain = [&](const auto& errors) { reporter.report(errors); };
    if (work(complain)) status = 0;
  } catch (const lang::Failure& failure) {
    reporter.report(failure.diagnostics);
  } catch (const lang::InternalError& error) {
    reporter.internal_error(error.what());
  }
  return finish_output(status);
}

std::string written_over(const std::string& written, const std::string& read) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(written, read, ignored)) return {};
  return fmt::format("`{}` would be written over: give another name, -o", read);
}

}  // namespace relay::repl
