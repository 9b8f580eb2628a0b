// `relay kernel`: a kernel of Jupyter, and what tells Jupyter of it.

#include <malloc.h>

#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lang/utf8.h"
#include "notebook/kernel.h"
#include "notebook/kernel_spec.h"
#include "repl/output.h"
#include "repl/signals.h"
#include "repl/tools.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

struct Place {
  bool is_user = false;
  std::optional<std::string> prefix;
};

CLI::App* add_place(CLI::App& app, const char* name, const char* what, Place& place) {
  CLI::App* command = app.add_subcommand(name, what);
  auto* user = command->add_flag("--user", place.is_user, "in the user's own folder (the default)");
  command
      ->add_option("--prefix", place.prefix, "in share/jupyter of this folder, such as /usr/local")
      ->excludes(user);
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  // Small pieces that are freed join their neighbours at once, as in repl/main.cpp.
  mallopt(M_MXFAST, 0);
  repl::prepare_streams();
  CLI::App app("A kernel of Jupyter, for notebooks in Relay", "relay kernel");
  app.require_subcommand(1);
  Place place;
  auto* install = add_place(app, "install", "tell Jupyter of the kernel", place);
  auto* uninstall = add_place(app, "uninstall", "take that back", place);
  CLI::App* run = app.add_subcommand("run", "be the kernel; Jupyter calls this");
  std::string connection_file;
  run->add_option("-f", connection_file, "the file that describes the connection")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    repl::put_output(app.help());
    return repl::finish_output(0);
  } catch (const CLI::ParseError& error) {
    repl::put_error(fmt::format("relay: {}\n", lang::printable(error.what())));
    return repl::kMisuse;
  }
  int status = 0;
  if (*install) status = notebook::install_kernel(place.prefix);
  if (*uninstall) status = notebook::uninstall_kernel(place.prefix);
  if (*run) {
    repl::Signals::start();
    const repl::Signals::During idle(repl::Signals::Meaning::Key);
    status = notebook::run_kernel(connection_file);
  }
  return repl::finish_output(status);
}
