// The `relay` program: a prompt, a runner of files, and one-line evaluation.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "interp/eval.h"
#include "repl/command.h"
#include "repl/driver.h"
#include "repl/session.h"
#include "repl/terminal.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

constexpr int kProgramError = 1;
constexpr int kMisuse = 2;

bool wants_color() { return std::getenv("NO_COLOR") == nullptr && isatty(STDERR_FILENO) != 0; }

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void put_errors(const std::vector<lang::Diagnostic>& errors) {
  std::fflush(stdout);
  for (const auto& error : errors) std::fputs(lang::render(error, wants_color()).c_str(), stderr);
}

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

int report(const std::vector<lang::Diagnostic>& errors) {
  put_errors(errors);
  return errors.empty() ? 0 : kProgramError;
}

void put_internal(const std::string& what) {
  std::fflush(stdout);
  fmt::print(stderr,
             "internal error: {}\nThis is a mistake in relay, not in your program. Please report "
             "it with the program that shows it.\n",
             what);
}

// Each argument is an expression: `relay FILE 3 "[1.0, 2.0]"` calls `@main(3, [1.0, 2.0])`.
int run_file(repl::Session& session, const std::string& path,
             const std::vector<std::string>& args) {
  bool evaluated = false;
  const auto errors = session.run_file(path, [&](const repl::ItemResult& result) {
    evaluated = evaluated || result.kind == parser::ItemKind::Expression;
    put_item(result);
  });
  const bool calls_main = !evaluated && session.has_main();
  if (!errors.empty()) return report(errors);
  if (calls_main) {
    return report(session.run("<main>", fmt::format("@main({})", fmt::join(args, ", ")), put_item));
  }
  if (args.empty()) return 0;
  fmt::print(stderr, "relay: {} takes no arguments: it has {}\n", path,
             session.has_main() ? "top-level expressions, so `@main` is not called" : "no `@main`");
  return kMisuse;
}

int run_pipe(repl::Session& session) {
  constexpr int kNoBlankLines = 0;  // a text may have as many empty lines as it likes
  repl::Driver driver(session, {put_item, put_errors, put, put_internal}, kNoBlankLines);
  std::string line;
  auto state = repl::Driver::State::Ready;
  while (state != repl::Driver::State::Quit && std::getline(std::cin, line)) {
    state = driver.feed(line);
    std::fflush(stdout);  // whoever feeds the pipe may wait for the answer
  }
  driver.finish();
  return driver.had_errors() ? kProgramError : 0;
}

int run_prompt(repl::Session& session) {
  fmt::print("Relay {} (:help for commands, :quit or Ctrl-D to leave)\n", RELAY_VERSION);
  constexpr int kBlankLines = 2;  // one may stand in a block that is pasted
  repl::Driver driver(session,
                      {[](const repl::ItemResult& result) { put(repl::describe(result)); },
                       put_errors, put, put_internal},
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Relay: a functional tensor language. Without arguments: a prompt.", "relay");
  std::string file, expression, jit = "auto";
  bool stats = false, strict = false, version = false;
  int threads = 0;
  app.add_option("FILE", file, "program to run; its top-level expressions are printed");
  app.allow_extras();
  app.footer("What follows FILE are arguments of the program's `@main`, each an expression.");
  app.add_option("-e", expression, "evaluate this text instead of a file");
  app.add_option("--jit", jit, "when to compile kernels: off, auto (hot ones), always")
      ->check(CLI::IsMember({"off", "auto", "always"}));
  app.add_option("--threads", threads, "threads for kernels (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--stats", stats, "say at the end how many kernels were compiled and run");
  app.add_flag("--strict", strict, "read the text given by -e as strict Relay");
  app.add_flag("--version", version, "print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kMisuse;
  }
  if (version) {
    fmt::print("relay {}\n", RELAY_VERSION);
    return 0;
  }
  // CLI11 would take `[1, 2]` for a list of its own.
  const std::vector<std::string> args = app.remaining();
  for (const std::string& arg : args) {
    if (!file.empty() && !arg.starts_with("--")) continue;
    fmt::print(stderr, "relay: unknown option {} (relay --help lists them)\n", arg);
    return kMisuse;
  }
  install_interrupt_handler();
  try {
    repl::SessionOptions options;
    options.jit = jit == "off"      ? interp::JitMode::Off
                  : jit == "always" ? interp::JitMode::Always
                                    : interp::JitMode::Auto;
    options.threads = threads;
    repl::Session session(options);
    int status = 0;
    if (!expression.empty()) {
      status = report(session.run("<-e>", expression, put_item,
                                  strict ? parser::Notation::Strict : parser::Notation::Auto));
    } else if (!file.empty()) {
      status = run_file(session, file, args);
    } else if (isatty(STDIN_FILENO) != 0) {
      status = run_prompt(session);
    } else {
      status = run_pipe(session);
    }
    if (stats) {
      std::fflush(stdout);
      std::fputs(repl::describe(session.evaluator().statistics()).c_str(), stderr);
    }
    return status;
  } catch (const std::exception& error) {
    put_internal(error.what());
    return kProgramError;
  }
}
