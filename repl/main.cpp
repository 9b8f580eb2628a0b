// The `relay` program: a prompt, a runner of files, and one-line evaluation.

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "interp/eval.h"
#include "interp/work_queue.h"
#include "lang/memory.h"
#include "lang/stop.h"
#include "repl/arguments.h"
#include "repl/choices.h"
#include "repl/code_cache.h"
#include "repl/deadline.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "repl/editor/history.h"
#include "repl/entry_lines.h"
#include "repl/main_call.h"
#include "repl/output.h"
#include "repl/pager.h"
#include "repl/parts.h"
#include "repl/plotting.h"
#include "repl/progress.h"
#include "repl/report.h"
#include "repl/run_report.h"
#include "repl/search_path.h"
#include "repl/session.h"
#include "repl/signals.h"
#include "repl/startup.h"
#include "repl/terminal.h"
#include "repl/tools.h"
#include "repl/version.h"
#include "repl/waiting.h"

namespace {

using namespace relay;  // NOLINT: the program's own file
using repl::Arguments;

// In a text a `;` only ends an item; at the prompt it hides the value.
void put_item_in(const repl::Display& display, repl::ItemResult result) {
  result.hide_value = false;
  if (result.kind == parser::ItemKind::Expression)
    repl::put_output(repl::describe(result, display));
}

void put_item(const repl::ItemResult& result) {
  put_item_in(repl::display_for_output(), result);
  repl::flush_output();  // what comes next may run for hours, and be killed
}

constexpr bool kHasReplay = true;  // `:bug` writes one

int report(const std::vector<lang::Diagnostic>& errors, repl::Reporter& reporter) {
  reporter.report(errors);
  reporter.hint("relay --explain");
  return errors.empty() ? 0 : repl::kProgramError;
}

// Each argument is a value: `relay FILE 3 "[1.0, 2.0]"` calls `@main(3, [1.0, 2.0])`.
int run_file(repl::Session& session, const Arguments& arguments, repl::Reporter& reporter) {
  repl::MainCall call(arguments.file, arguments.rest);
  bool evaluated = false;
  const auto put_result = [&](const repl::ItemResult& result) {
    evaluated = evaluated || result.kind == parser::ItemKind::Expression;
    put_item(result);
  };
  bool refused = false;
  const auto errors = session.run_file(arguments.file, put_result, [&](const lang::Source& text) {
    auto wrong = call.check(text);
    refused = !wrong.empty();
    return wrong;
  });
  const int status = report(errors, reporter);
  if (refused) return repl::kMisuse;
  if (status != 0 || evaluated || !session.has_main()) return status;
  const auto unknown = call.check_names(session.module());
  if (!unknown.empty()) {
    report(unknown, reporter);
    return repl::kMisuse;
  }
  return report(session.run(call.name(), call.text(), put_item), reporter);
}

// Runs lines of standard input until they end, or a command says so.
repl::Driver::State feed_lines(repl::Driver& driver) {
  std::string line;
  auto state = repl::Driver::State::Ready;
  const auto read_line = [&] {
    const repl::Signals::During waiting(repl::Signals::Meaning::End);
    return static_cast<bool>(std::getline(std::cin, line));
  };
  while (state != repl::Driver::State::Quit && !driver.was_interrupted() && read_line()) {
    state = driver.feed(line);
    repl::flush_output();  // whoever feeds the pipe may wait for the answer
  }
  return state;
}

int run_pipe(repl::Session& session, repl::Reporter& reporter) {
  constexpr int kNoBlankLines = 0;  // a text may have as many empty lines as it likes
  const repl::DriverEvents events = {
      [&](const repl::ItemResult& result) {
        put_item_in(repl::display_for_output(session.options().shown), result);
      },
      [&](const auto& errors) { reporter.report(errors); },
      repl::put_output,
      [&](const std::string& what) { reporter.internal_error(what, kHasReplay); },
      nullptr,
      [] { return true; },
      std::make_shared<repl::Replay>()};
  repl::Driver driver(session, events, kNoBlankLines);
  session.set_interactive(true);
  session.set_at_stop([&](const std::string& where) {
    repl::put_output(where);
    repl::Driver asked(session, events, kNoBlankLines);
    feed_lines(asked);
    // Where the input has ended nobody can be asked again.
    return asked.resume().value_or(repl::Session::Resume::Finish);
  });
  feed_lines(driver);
  if (!driver.was_interrupted()) driver.finish();
  return driver.had_errors() ? repl::kProgramError : 0;
}

int run_prompt(repl::Session& session, repl::Reporter& reporter, const Arguments& arguments) {
  repl::put_output(fmt::format("Relay {}, {} (:help for commands, Ctrl-D to leave)\n",
                               RELAY_VERSION, repl::describe_engine(session.evaluator().mode())));
  const auto report_errors = [&](const auto& errors) {
    reporter.report(errors);
    reporter.hint(":explain");
  };
  const repl::Signals::During running(repl::Signals::Meaning::Stop);
  repl::Terminal terminal(
      repl::editor::history_path(), repl::wants_color(arguments.color, STDOUT_FILENO),
      {repl::is_complete_block,
       [&](std::string_view text, std::size_t cursor) { return session.complete(text, cursor); }});
  constexpr int kNoBlankLines = 0;  // the terminal says where an entry ends
  const repl::DriverEvents events = {
      [&](const repl::ItemResult& result) {
        repl::Display display = repl::display_for_output(session.options().shown);
        display.numbers = true;
        repl::put_output(repl::describe(result, display));
      },
      report_errors,
      repl::put_paged,
      [&](const std::string& what) { reporter.internal_error(what, kHasReplay); },
      [&](const std::string&) { session.set_columns(repl::terminal_size().columns); },
      nullptr,
      std::make_shared<repl::Replay>()};
  repl::Driver driver(session, events, kNoBlankLines);
  bool leaves = false;
  session.set_at_stop([&](const std::string& where) {
    // An interrupt gives up, also from before the prompt can be seen.
    if (lang::pending_stop.load() == lang::Stop::Interrupted) return repl::Session::Resume::GiveUp;
    const repl::Signals::During typing(repl::Signals::Meaning::Key);
    std::optional<repl::Waiting::Silence> silence(std::in_place);
    repl::put_output(where);
    repl::Driver asked(session, events, kNoBlankLines);
    auto state = repl::Driver::State::Ready;
    while (state != repl::Driver::State::Quit) {
      repl::flush_output();
      const repl::Typed typed = terminal.read_entry(true);
      const bool is_interrupted = typed.kind == repl::Typed::Kind::Interrupted;
      if (typed.kind == repl::Typed::Kind::End) return repl::Session::Resume::Continue;
      if (is_interrupted && typed.text.empty()) return repl::Session::Resume::GiveUp;
      if (typed.kind != repl::Typed::Kind::Entry) continue;
      terminal.remember(typed.text.substr(0, typed.text.find_last_not_of(" \t\n") + 1));
      silence.reset();
      {
        const repl::Signals::During asking(repl::Signals::Meaning::Stop);
        state = asked.feed_block(typed.text);
      }
      silence.emplace();
    }
    leaves = !asked.resume();
    return asked.resume().value_or(repl::Session::Resume::GiveUp);
  });
  // A file that `relay -i` has run is in place of the one that a prompt begins with.
  if (!arguments.no_init && !arguments.stays && !arguments.is_confined()) {
    if (const auto startup = repl::startup_file())
      report_errors(session.run_file(*startup, nullptr));
  }
  session.set_interactive(true);
  auto state = repl::Driver::State::Ready;
  while (state != repl::Driver::State::Quit) {
    repl::flush_output();
    const repl::Typed typed = terminal.read_entry();
    if (typed.kind == repl::Typed::Kind::End) break;
    if (typed.kind != repl::Typed::Kind::Entry) continue;
    terminal.remember(typed.text.substr(0, typed.text.find_last_not_of(" \t\n") + 1));
    const repl::Waiting waiting(repl::has_cursor(STDERR_FILENO));
    state = driver.feed_block(typed.text);
    if (leaves) break;
  }
  // Whatever was interrupted here has been answered by the next prompt.
  reporter.forget_interruption();
  lang::clear_stop();
  return 0;
}

bool has_prompt(const Arguments& arguments) {
  return arguments.task == repl::Task::Prompt || arguments.stays;
}

int run_program(const Arguments& arguments, repl::Reporter& reporter) {
  repl::SessionOptions options;
  options.jit = *repl::choice_called(repl::kJitModes, arguments.jit);
  options.kernels = *repl::choice_called(repl::kLibraryKernels, arguments.kernels);
  options.threads = arguments.threads;
  options.perf = arguments.perf;
  if (has_prompt(arguments)) options.seconds = arguments.seconds;
  options.search_path = arguments.search_path;
  options.plugins = arguments.plugins;
  options.files = arguments.access();
  if (!arguments.is_confined()) options.code_cache = repl::code_cache_folder();
  options.warn = [&](const auto& warnings) { reporter.report(warnings); };
  options.plot_style = [&] { return repl::plot_style_of_output(arguments.color); };
  if (has_prompt(arguments) && isatty(STDIN_FILENO) != 0)
    options.draws_points = repl::Terminal::draws_points;
  if (has_prompt(arguments) && isatty(STDIN_FILENO) != 0 && repl::has_cursor(STDERR_FILENO))
    options.expect = repl::Waiting::expect;
  if (repl::has_cursor(STDERR_FILENO)) options.progress = repl::ProgressLine(has_prompt(arguments));
  // Never taken down: what it holds goes with the process, which is quicker by far.
  static auto* const kept = new repl::Session(options);
  repl::Session& session = *kept;
  if (arguments.profile) session.begin_profile();
  int status = 0;
  if (arguments.task == repl::Task::Evaluate) {
    status =
        report(session.run("<-e>", arguments.expression, put_item,
                           arguments.strict ? parser::Notation::Strict : parser::Notation::Auto),
               reporter);
  } else if (arguments.task == repl::Task::Run) {
    status = run_file(session, arguments, reporter);
  }
  if (has_prompt(arguments)) {
    status = isatty(STDIN_FILENO) != 0 ? run_prompt(session, reporter, arguments)
                                       : run_pipe(session, reporter);
  }
  if (arguments.profile) {
    repl::flush_output();
    repl::put_error(session.end_profile());
  }
  if (arguments.stats) {
    repl::flush_output();
    repl::put_error(repl::describe_memory(session) + repl::describe_run(session));
  }
  return status;
}

int run(const Arguments& arguments, repl::Reporter& reporter) {
  int status = 0;
  if (arguments.memory) lang::set_memory_limit(*arguments.memory);
  const repl::Deadline deadline(has_prompt(arguments) ? 0 : arguments.seconds);
  switch (arguments.task) {
    case repl::Task::Prompt:
    case repl::Task::Run:
    case repl::Task::Evaluate:
      return run_program(arguments, reporter);
    case repl::Task::Explain:
      return repl::explain_kind(arguments.kind, reporter);
    case repl::Task::Version:
      repl::put_output(repl::describe_version());
      return 0;
    case repl::Task::Grad: {
      repl::GradRequest request = arguments.grad;
      request.strict = arguments.strict;
      return repl::print_gradient(request, arguments.search_path, arguments.access(), reporter);
    }
    case repl::Task::Opt:
    case repl::Task::BuildExternal: {
      repl::OptRequest request = arguments.opt;
      request.plugins = arguments.plugins;
      return repl::optimise_file(request, arguments.search_path, arguments.access(), reporter);
    }
    case repl::Task::Tune:
      return repl::tune_file(arguments.tune, arguments.search_path, reporter);
    case repl::Task::Check:
      status =
          repl::check_files(arguments.check, arguments.search_path, arguments.access(), reporter);
      break;
    case repl::Task::Format:
      status = repl::format_files(arguments.format, reporter);
      break;
  }
  reporter.hint("relay --explain");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (const repl::Part* part = argc > 1 ? repl::find_part(argv[1]) : nullptr)
    return repl::become_part(*part, argv + 1);
  // Small pieces that are freed join their neighbours at once: glibc would do it later for all of
  // them, in one pause of up to seconds.
  mallopt(M_MXFAST, 0);
  repl::prepare_streams();
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (argc > 1 && repl::is_unknown_command(argv[1])) {
    repl::Reporter reporter(repl::ErrorFormat::Text, repl::wants_color("auto", STDERR_FILENO),
                            false);
    return repl::report_unknown_command(argv[1], reporter);
  }
  repl::Arguments arguments;
  if (const auto status = repl::parse_arguments(argc, argv, arguments)) return *status;
  if (arguments.part) return repl::become_part(*arguments.part, arguments.rest);
  repl::Signals::start();
  arguments.search_path = repl::with_usual_folders(std::move(arguments.search_path));
  repl::Reporter reporter = arguments.reporter(is_terminal);
  int status = repl::kProgramError;
  try {
    status = run(arguments, reporter);
  } catch (const lang::Failure& failure) {
    reporter.report(failure.diagnostics);
  } catch (const std::exception& error) {
    const bool is_stopped = lang::is_stopping();
    if (is_stopped) reporter.report({lang::stop_diagnostic()});
    if (!is_stopped) reporter.internal_error(error.what());
  }
  const bool is_interrupted =
      reporter.was_interrupted() || lang::pending_stop.load() == lang::Stop::Interrupted;
  status = repl::finish_output(is_interrupted ? repl::kInterrupted : status);
  // Nobody needs what is still being compiled, and what it works with must not be taken down.
  if (interp::is_working()) _exit(status);
  return status;
}
