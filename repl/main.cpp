// The `relay` program: a prompt, a runner of files, and one-line evaluation.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "interp/eval.h"
#include "repl/command.h"
#include "repl/driver.h"
#include "repl/grad_file.h"
#include "repl/opt_file.h"
#include "repl/progress.h"
#include "repl/report.h"
#include "repl/session.h"
#include "repl/terminal.h"
#include "repl/tools.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

struct Arguments {
  std::string file, expression, kind, jit = "auto", kernels = "auto", error_format = "text";
  bool is_opt = false, stats = false, strict = false, version = false;
  int threads = 0;
  std::vector<std::string> check;
  repl::FormatRequest format;
  repl::GradRequest grad;
  repl::OptRequest opt;
  std::vector<std::string> search_path;
  std::vector<std::string> rest;  // arguments of the program
};

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// In a text a `;` only ends an item; at the prompt it hides the value.
void put_item(repl::ItemResult result) {
  result.hide_value = false;
  if (result.kind == parser::ItemKind::Expression) put(repl::describe(result));
}

// The first Ctrl-C stops the evaluation at the next function entry or kernel slice. Where neither
// comes (one very long kernel, an exploding type) the third one ends the program.
void on_interrupt(int) {
  static volatile std::sig_atomic_t presses = 0;
  presses = interp::Evaluator::interrupt() ? 1 : presses + 1;
  if (presses < 3) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

int report(const std::vector<lang::Diagnostic>& errors, repl::Reporter& reporter) {
  reporter.report(errors);
  reporter.hint("relay --explain");
  return errors.empty() ? 0 : repl::kProgramError;
}

// Each argument is an expression: `relay FILE 3 "[1.0, 2.0]"` calls `@main(3, [1.0, 2.0])`.
int run_file(repl::Session& session, const Arguments& arguments, repl::Reporter& reporter) {
  const std::vector<std::string>& args = arguments.rest;
  bool evaluated = false;
  const auto errors = session.run_file(arguments.file, [&](const repl::ItemResult& result) {
    evaluated = evaluated || result.kind == parser::ItemKind::Expression;
    put_item(result);
  });
  const bool calls_main = !evaluated && session.has_main();
  if (!errors.empty()) return report(errors, reporter);
  if (calls_main) {
    return report(session.run("<main>", fmt::format("@main({})", fmt::join(args, ", ")), put_item),
                  reporter);
  }
  if (args.empty()) return 0;
  fmt::print(stderr, "relay: {} takes no arguments: it has {}\n", arguments.file,
             session.has_main() ? "top-level expressions, so `@main` is not called" : "no `@main`");
  return repl::kMisuse;
}

// Adds the folders of a list like `a:b`; null is an empty one.
void add_path(const char* list, std::vector<std::string>& folders) {
  std::istringstream rest(list ? list : "");
  for (std::string folder; std::getline(rest, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
}

int run_pipe(repl::Session& session, repl::Reporter& reporter) {
  constexpr int kNoBlankLines = 0;  // a text may have as many empty lines as it likes
  repl::Driver driver(session,
                      {put_item, [&](const auto& errors) { reporter.report(errors); }, put,
                       [&](const std::string& what) { reporter.internal_error(what); }},
                      kNoBlankLines);
  std::string line;
  auto state = repl::Driver::State::Ready;
  while (state != repl::Driver::State::Quit && std::getline(std::cin, line)) {
    state = driver.feed(line);
    std::fflush(stdout);  // whoever feeds the pipe may wait for the answer
  }
  driver.finish();
  return driver.had_errors() ? repl::kProgramError : 0;
}

int run_prompt(repl::Session& session, repl::Reporter& reporter) {
  fmt::print("Relay {} (:help for commands, :quit or Ctrl-D to leave)\n", RELAY_VERSION);
  constexpr int kBlankLines = 2;  // one may stand in a block that is pasted
  const auto report_errors = [&](const auto& errors) {
    reporter.report(errors);
    reporter.hint(":explain");
  };
  repl::Driver driver(
      session,
      {[](const repl::ItemResult& result) { put(repl::describe(result)); }, report_errors, put,
       [&](const std::string& what) { reporter.internal_error(what); }},
      kBlankLines);
  repl::Terminal terminal;
  auto state = repl::Driver::State::Ready;
  while (state != repl::Driver::State::Quit) {
    std::fflush(stdout);
    bool interrupted = false;
    const auto line = terminal.read_line(state == repl::Driver::State::NeedsMore, interrupted);
    if (interrupted) {
      driver.abandon();
      state = repl::Driver::State::Ready;
      continue;
    }
    if (!line) break;
    const bool is_command =
        state == repl::Driver::State::Ready && line->find_first_not_of(" \t") == line->find(':');
    state = driver.feed(*line);
    if (state == repl::Driver::State::NeedsMore) continue;
    terminal.remember(is_command ? *line : driver.last_entry());
  }
  put("\n");
  return 0;
}

int run_program(const Arguments& arguments, repl::Reporter& reporter) {
  repl::SessionOptions options;
  options.jit = arguments.jit == "off"      ? interp::JitMode::Off
                : arguments.jit == "always" ? interp::JitMode::Always
                                            : interp::JitMode::Auto;
  options.kernels = arguments.kernels == "auto";
  options.threads = arguments.threads;
  options.search_path = arguments.search_path;
  options.warn = [&](const auto& warnings) { reporter.report(warnings); };
  if (isatty(STDERR_FILENO) != 0) options.progress = repl::ProgressLine();
  repl::Session session(options);
  int status = 0;
  if (!arguments.expression.empty()) {
    status =
        report(session.run("<-e>", arguments.expression, put_item,
                           arguments.strict ? parser::Notation::Strict : parser::Notation::Auto),
               reporter);
  } else if (!arguments.file.empty()) {
    status = run_file(session, arguments, reporter);
  } else if (isatty(STDIN_FILENO) != 0) {
    status = run_prompt(session, reporter);
  } else {
    status = run_pipe(session, reporter);
  }
  if (arguments.stats) {
    std::fflush(stdout);
    std::fputs(repl::describe(session.evaluator().statistics()).c_str(), stderr);
  }
  return status;
}

int run(const Arguments& arguments, repl::Reporter& reporter) {
  if (!arguments.kind.empty()) return repl::explain_kind(arguments.kind, reporter);
  if (!arguments.check.empty()) {
    const int status = repl::check_files(arguments.check, arguments.search_path, reporter);
    reporter.hint("relay --explain");
    return status;
  }
  if (!arguments.format.paths.empty()) {
    const int status = repl::format_files(arguments.format, reporter);
    reporter.hint("relay --explain");
    return status;
  }
  if (!arguments.grad.path.empty()) {
    repl::GradRequest request = arguments.grad;
    request.strict = arguments.strict;
    return repl::print_gradient(request, arguments.search_path, reporter);
  }
  if (arguments.is_opt) return repl::optimise_file(arguments.opt, arguments.search_path, reporter);
  return run_program(arguments, reporter);
}

void define_options(CLI::App& app, Arguments& into) {
  app.add_option("FILE", into.file, "program to run; its top-level expressions are printed");
  app.add_option("-e", into.expression, "evaluate this text instead of a file");
  app.add_option("--jit", into.jit, "when to compile kernels: off, auto (hot ones), always")
      ->check(CLI::IsMember({"off", "auto", "always"}));
  app.add_option("--kernels", into.kernels,
                 "library kernels for large matrix products and convolutions: off, auto")
      ->check(CLI::IsMember({"off", "auto"}));
  app.add_option("--threads", into.threads, "threads for kernels (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--error-format", into.error_format,
                 "how errors are written: text, or json, an object on each line")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--explain", into.kind, "what a kind of error means: --explain BroadcastMismatch");
  app.add_option("-I,--path", into.search_path,
                 "a folder where imports are looked for, as often as needed")
      ->allow_extra_args(false);
  app.add_flag(
      "--stats", into.stats,
      "say at the end how many kernels were compiled and run, and the peak of tensor memory");
  app.add_flag("--strict", into.strict, "read the text given by -e as strict Relay, or print it");
  app.add_flag("--version", into.version, "print the version");
  app.allow_extras();
  app.footer("What follows FILE are arguments of the program's `@main`, each an expression.");
  app.fallthrough();
  auto* check = app.add_subcommand("check", "print every definition with its type, run nothing");
  check->add_option("FILE", into.check, "files to check, or - for standard input")->required();
  auto* format = app.add_subcommand("fmt", "lay out a file anew and print it, or write it back");
  format->add_option("FILE", into.format.paths, "files to format, or - for standard input")
      ->required();
  auto* write = format->add_flag("-w,--write", into.format.write, "rewrite the files");
  format->add_flag("--check", into.format.check, "only name the files that are not formatted")
      ->excludes(write);
  format->add_flag("--strict,--light", into.format.converts, "in this notation");
  auto* grad = app.add_subcommand("grad", "print the derivative of a function, simplified");
  grad->add_option("FILE", into.grad.path, "the file it is in, or - for standard input")
      ->required();
  grad->add_option("-f,--function", into.grad.function,
                   "its name (default: the only one of the file)");
  grad->add_option("--mode", into.grad.mode,
                   "grad (the default), value_and_grad, vjp, jvp, hvp, hessian or jacobian");
  auto* opt = app.add_subcommand("opt", "print a file after named passes");
  opt->add_option("FILE", into.opt.path, "the file, or - for standard input");
  opt->add_option("-p,--passes", into.opt.passes,
                  "the passes in order: -p \"InferType,FuseOps(max_depth=4)\"");
  opt->add_flag("--list", into.opt.list, "print the passes and their options");
  opt->callback([&into] { into.is_opt = true; });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Relay: a functional tensor language. Without arguments: a prompt.", "relay");
  Arguments arguments;
  define_options(app, arguments);
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const bool color = is_terminal && std::getenv("NO_COLOR") == nullptr;
  if (argc > 1 && repl::is_unknown_command(argv[1])) {
    repl::Reporter reporter(repl::ErrorFormat::Text, color, false);
    return repl::report_unknown_command(argv[1], reporter);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return repl::kMisuse;
  }
  if (arguments.version) {
    fmt::print("relay {}\n", RELAY_VERSION);
    return 0;
  }
  // CLI11 would take `[1, 2]` for a list of its own.
  arguments.rest = app.remaining(true);
  for (const std::string& arg : arguments.rest) {
    if (!arguments.file.empty() && !arg.starts_with("--")) continue;
    fmt::print(stderr, "relay: unknown option {} (relay --help lists them)\n", arg);
    return repl::kMisuse;
  }
  add_path(std::getenv("RELAY_PATH"), arguments.search_path);
  install_interrupt_handler();
  repl::Reporter reporter(
      arguments.error_format == "json" ? repl::ErrorFormat::Json : repl::ErrorFormat::Text, color,
      is_terminal);
  try {
    return run(arguments, reporter);
  } catch (const std::exception& error) {
    reporter.internal_error(error.what());
    return repl::kProgramError;
  }
}
