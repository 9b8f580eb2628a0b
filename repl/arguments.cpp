#include "repl/arguments.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lang/utf8.h"
#include "opt/pass.h"
#include "repl/choices.h"
#include "repl/option_forms.h"
#include "repl/output.h"
#include "repl/parts.h"

namespace relay::repl {

namespace {

void define_plugins(CLI::App& app, Arguments& into) {
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [&](const std::vector<std::string>& paths) {
           into.plugins.insert(into.plugins.end(), paths.begin(), paths.end());
         },
         "an external compiler: a shared object; as often as needed")
      ->allow_extra_args(false);
}

void define_run_options(CLI::App& app, Arguments& into) {
  define_plugins(app, into);
  app.add_option("FILE", into.file, "program to run; its top-level expressions are printed");
  app.add_flag("-i,--interactive", into.stays, "go on with a prompt when FILE has run");
  app.add_flag("--no-init", into.no_init,
               "at the prompt, do not run relay/init.relay of XDG_CONFIG_HOME or ~/.config first");
  app.add_option("-e", into.expression, "evaluate this text instead of a file");
  app.add_option("--jit", into.jit, "when to compile kernels: off, auto (hot ones), always")
      ->check(CLI::IsMember(names_of(kJitModes)));
  app.add_option("--kernels", into.kernels,
                 "kernels for matrix products and convolutions: off, direct (no transforms), auto")
      ->check(CLI::IsMember(names_of(kLibraryKernels)));
  app.add_option("--threads", into.threads, "threads for kernels (default: all cores)")
      ->check(CLI::Range(1, 1024));
  define_options(app, static_cast<LimitOptions&>(into));
  define_options(app, static_cast<ReportOptions&>(into));
  app.add_option("--explain", into.kind, "what a kind of error means: --explain BroadcastMismatch");
  define_options(app, static_cast<FileOptions&>(into));
  app.add_flag("--stats", into.stats,
               "say at the end what was compiled and run, what is no kernel and why, and the peak "
               "of memory");
  app.add_flag("--profile", into.profile,
               "say at the end which lines took the time, and the memory of tensors");
  app.add_flag("--perf", into.perf,
               "give native code names: in /tmp/perf-PID.map, for perf, and for gdb");
  app.add_flag("--strict", into.strict, "read the text given by -e as strict Relay, or print it");
  const std::string version = "print the version, and those of the libraries that run programs";
  app.add_flag("--version", version);
}

void define_tools(CLI::App& app, Arguments& into) {
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
  opt->add_option("-O,--level", into.opt.level,
                  "pass over passes of a higher level; without -p: all that make code faster")
      ->check(CLI::Range(0, opt::kHighestLevel));
  auto* bind =
      opt->add_option("--bind", into.opt.bindings.list,
                      "a parameter of @main that becomes a constant: n=3, w=w.npy; as often as "
                      "needed")
          ->allow_extra_args(false)
          ->check(of_form([](const std::string& text) { return text.find('=') != text.npos; },
                          "a name and a value, as in n=3"));
  opt->add_option("--entry", into.opt.bindings.function,
                  "the function whose parameters --bind binds (default: main)")
      ->needs(bind);
  opt->add_option("--rewrite", into.opt.rules,
                  "a file of rewrite rules, applied before the passes");
  auto* after =
      opt->add_flag("--print-after", into.opt.print_after, "print the program after each pass");
  opt->add_flag("--diff", into.opt.differences,
                "print it before, and which lines each pass changes")
      ->excludes(after);
  opt->add_option("--analyze", into.opt.analysis,
                  "say what an analysis finds, after the passes if there are some");
  opt->add_flag("--time", into.opt.times, "say how long each pass took, on stderr");
  opt->add_flag("--list", into.opt.list, "print the passes and their options");
  opt->add_flag("--analyses", into.opt.lists_analyses, "print the analyses");
  auto* tune =
      app.add_subcommand("tune", "search for schedules of a file's functions by measuring");
  tune->add_option("FILE", into.tune.path, "the file; its last call of a function is measured")
      ->required();
  tune->add_option("-f,--function", into.tune.function,
                   "one of them (default: each that has index notation)");
  tune->add_option("--time", into.tune.seconds, "seconds of the search for one (default: 10)")
      ->check(CLI::PositiveNumber);
  define_plugins(*opt, into);
  auto* build = app.add_subcommand(
      "build_external", "print a file whose parts have been handed to external compilers");
  build->add_option("FILE", into.opt.path, "the file, or - for standard input")->required();
  build
      ->add_option("--compiler", into.opt.compilers,
                   "the compiler, or several: --compiler dnnl,blas")
      ->required();
  define_plugins(*build, into);
  // What stands behind a part is its own.
  for (const Part& part : parts()) {
    app.add_subcommand(std::string(part.command), std::string(part.help))
        ->prefix_command()
        ->fallthrough(false)
        ->set_help_flag();
  }
}

int misuse(std::string_view text) {
  put_error(fmt::format("relay: {}\n", lang::printable(text)));
  return kMisuse;
}

// What the line asks for, each with the words that ask for it.
std::vector<std::pair<Task, std::string>> tasks_of(const CLI::App& app) {
  std::vector<std::pair<Task, std::string>> tasks;
  const auto add = [&](bool is_asked, Task task, std::string words) {
    if (is_asked) tasks.emplace_back(task, std::move(words));
  };
  for (const auto& [name, task] : {std::pair{"check", Task::Check},
                                   {"fmt", Task::Format},
                                   {"grad", Task::Grad},
                                   {"opt", Task::Opt},
                                   {"tune", Task::Tune},

                                   {"build_external", Task::BuildExternal}})
    add(app.got_subcommand(name), task, fmt::format("`relay {}`", name));
  add(app.count("--explain") > 0, Task::Explain, "`--explain`");
  add(app.count("--version") > 0, Task::Version, "`--version`");
  add(app.count("-e") > 0, Task::Evaluate, "`-e`");
  return tasks;
}

// Whatever stands before FILE is meant for us, and so is every `--word`; `-3` after FILE is an
// argument of the program.
const std::string* unknown_option(const Arguments& arguments, int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto place = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word);
  };
  for (const std::string& word : arguments.rest) {
    const bool is_ours = arguments.task != Task::Run || place(word) < place(arguments.file);
    if (word.starts_with("--") || (is_ours && word.size() > 1 && word.front() == '-')) return &word;
  }
  return nullptr;
}

// A part with options in front of it, which it is handed.
bool settle_part(const CLI::App& app, int argc, char** argv, Arguments& into) {
  for (const Part& part : parts()) {
    const std::string command(part.command);
    if (!app.got_subcommand(command)) continue;
    into.part = &part;
    into.rest = {command};
    const auto behind = app.get_subcommand(command)->remaining();
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto rest = words.end() - static_cast<std::ptrdiff_t>(behind.size());
    const auto own = std::find(std::make_reverse_iterator(rest), words.rend(), command).base() - 1;
    into.rest.insert(into.rest.end(), words.begin(), own);
    into.rest.insert(into.rest.end(), behind.begin(), behind.end());
    return true;
  }
  return false;
}

// Nothing that stands on the line may be passed over in silence.
std::optional<int> settle_task(const CLI::App& app, int argc, char** argv, Arguments& into) {
  const auto tasks = tasks_of(app);
  if (tasks.size() > 1)
    return misuse(fmt::format("{} and {} exclude each other", tasks[0].second, tasks[1].second));
  const bool has_file = app.count("FILE") > 0;
  into.task = !tasks.empty() ? tasks[0].first : has_file ? Task::Run : Task::Prompt;
  // CLI11 would take `[1, 2]` for a list of its own, so the rest is taken as it stands.
  into.rest = app.remaining(true);
  if (const std::string* option = unknown_option(into, argc, argv))
    return misuse(fmt::format("unknown option {} (relay --help lists them)", *option));
  if (into.task != Task::Run && (has_file || !into.rest.empty())) {
    return misuse(
        fmt::format("`{}` is too much: {}", has_file ? into.file : into.rest.front(),
                    tasks.empty() ? "no file is given" : tasks[0].second + " takes no more"));
  }
  const bool only_lists = into.opt.list || into.opt.lists_analyses;
  if (into.task == Task::Opt && only_lists && !into.opt.path.empty()) {
    return misuse(fmt::format("`{}` is too much: `{}` takes no file", into.opt.path,
                              into.opt.list ? "--list" : "--analyses"));
  }
  if (into.stays && into.task != Task::Run)
    return misuse("`-i` goes on where a file has run: no file is given");
  if (into.task == Task::Run && into.file.empty()) return misuse("the name of the file is empty");
  return std::nullopt;
}

}  // namespace

std::optional<int> parse_arguments(int argc, char** argv, Arguments& into) {
  CLI::App app("Relay: a functional tensor language. Without arguments: a prompt.", "relay");
  define_run_options(app, into);
  app.allow_extras();
  app.fallthrough();
  define_tools(app, into);
  // After the tools, which would inherit it.
  app.footer("What follows FILE are arguments of the program's `@main`, each a value.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    put_output(app.help());
    return finish_output(0);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kMisuse;
  }
  if (settle_part(app, argc, argv, into)) return std::nullopt;
  return settle_task(app, argc, argv, into);
}

}  // namespace relay::repl
