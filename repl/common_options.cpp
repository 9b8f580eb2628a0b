#include "repl/common_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "repl/limits.h"
#include "repl/option_forms.h"
#include "repl/output.h"

namespace relay::repl {

Reporter ReportOptions::reporter(bool hints) const {
  return {error_format == "json" ? ErrorFormat::Json : ErrorFormat::Text,
          wants_color(color, STDERR_FILENO), hints};
}

formats::FileAccess FileOptions::access() const {
  if (no_files) return formats::FileAccess::none();
  if (root.empty()) return {};
  return formats::FileAccess::beneath({root}, fmt::format("`--root {}`", root));
}

void define_options(CLI::App& app, ReportOptions& into) {
  app.add_option("--error-format", into.error_format,
                 "how errors are written: text, or json, an object on each line")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--color", into.color,
                 "colour errors: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void define_options(CLI::App& app, LimitOptions& into) {
  app.add_option_function<std::string>(
         "--max-memory", [&](const std::string& text) { into.memory = parse_bytes(text); },
         "memory that a run may take: 512M, 2G, none (default: most of what is free)")
      ->check(of_form(parse_bytes, "a size such as 512M or 2G"));
  app.add_option_function<std::string>(
         "--max-time", [&](const std::string& text) { into.seconds = *parse_seconds(text); },
         "time that a run may take, at the prompt each entry: 10, 500ms, 2m (default: any)")
      ->check(of_form(parse_seconds, "a time such as 10s or 500ms"));
}

void define_options(CLI::App& app, FileOptions& into) {
  app.add_option("-I,--path", into.search_path,
                 "a folder where imports are looked for, as often as needed")
      ->allow_extra_args(false);
  auto* none =
      app.add_flag("--no-files", into.no_files,
                   "the program opens no files: no load, save or import but of the library");
  app.add_option("--root", into.root, "the only folder whose files the program may open")
      ->check(CLI::ExistingDirectory)
      ->excludes(none);
}

}  // namespace relay::repl
