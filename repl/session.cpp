#include "repl/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "opt/pass_program.h"
#include "parser/value_text.h"
#include "repl/columns.h"
#include "repl/compiled.h"
#include "repl/debugger.h"
#include "repl/derivative.h"
#include "repl/doc_forms.h"
#include "repl/effects.h"
#include "repl/environment.h"
#include "repl/files.h"
#include "repl/graph.h"
#include "repl/info.h"
#include "repl/left_behind.h"
#include "repl/line_diff.h"
#include "repl/module_passes.h"
#include "repl/names.h"
#include "repl/plan.h"
#include "repl/profile.h"
#include "repl/session_state.h"
#include "repl/show.h"
#include "repl/source_of.h"
#include "repl/trace.h"
#include "stdlib/register.h"
#include "stdlib/rule_files.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Origin;
using lang::Result;
using lang::Value;

Session::Session(SessionOptions options) {
  stdlib::register_operators();
  impl_ = std::make_unique<Impl>(std::move(options));
  impl_->load_prelude();
}
Session::~Session() = default;

namespace {

// What `body` finds wrong, or what ends it.
template <class F>
std::vector<Diagnostic> errors_in(const F& body) {
  try {
    return body();
  } catch (...) {
    return lang::caught_diagnostics();
  }
}

}  // namespace

std::vector<Diagnostic> Session::run(std::string name, std::string text,
                                     const std::function<void(const ItemResult&)>& on_item,
                                     parser::Notation notation) {
  const auto run = [&] {
    const bool is_stopped = impl_->debugger->is_stopped();
    const lang::Source* source =
        impl_->sources.add(is_stopped ? "<stop>" : std::move(name), std::move(text));
    if (is_stopped) return impl_->debugger->run(*source, on_item);
    return impl_->run_text(*source, "", on_item, notation);
  };
  return impl_->entry([&] { return errors_in(run); });
}

std::vector<Diagnostic> Session::run_file(const std::string& path,
                                          const std::function<void(const ItemResult&)>& on_item,
                                          const OnRead& on_read) {
  const auto run = [&]() -> std::vector<Diagnostic> {
    if (impl_->debugger->is_stopped()) fail_while_stopped({});
    const lang::Source* source = impl_->sources.add(path, read_file(path).or_throw());
    if (on_read) {
      auto refused = on_read(*source);
      if (!refused.empty()) return refused;
    }
    const std::string directory = std::filesystem::path(path).parent_path().string();
    std::vector<std::string> before = impl_->pipeline.directories();
    impl_->pipeline.set_directory(directory);
    const Imports::Reading reading(impl_->imports, path, {});
    auto errors = impl_->run_text(*source, directory, on_item, parser::Notation::Auto);
    // At a prompt nothing stays of a file that fails.
    if (!errors.empty() && impl_->options.interactive)
      impl_->pipeline.set_directories(std::move(before));
    return errors;
  };
  return impl_->entry([&] { return errors_in(run); });
}

bool Session::has_main() const {
  const Definition* main = impl_->module.find("main");
  return main && main->function && main->origin == Origin::Own;
}

Result<std::string> Session::type_of(const std::string& text) {
  const lang::Source* source = impl_->sources.add("<type>", text);
  return impl_->entry_guarded([&] {
    if (impl_->debugger->is_stopped()) return impl_->debugger->type_in_frame(*source);
    const Expr expr = impl_->command_expression(*source);
    return to_string(impl_->checker.type_of(expr).or_throw());
  });
}

Result<std::string> Session::show(const std::string& stage, const std::string& text) {
  const lang::Source* source = impl_->sources.add("<show>", text);
  return impl_->entry_guarded([&] {
    const Expr expr = impl_->command_expression(*source);
    if (stage == "plan") return impl_->plan_of(expr);
    return show_stage(stage, expr, impl_->module, impl_->checker, impl_->pipeline);
  });
}

// Of a run that finds everything compiled, where it may run twice.
std::string Session::Impl::plan_of(const Expr& expr) {
  const auto thunk = evaluator.prepare(ready(checked(expr)));
  interp::Plan plan;
  if (!has_visible_effect(expr, module)) {
    evaluator.run(thunk).or_throw();
    evaluator.settle();
    plan.restart();
  }
  evaluator.run(thunk).or_throw();
  return describe_plan(plan, evaluator.threads());
}

Result<std::string> Session::derivative(const std::string& text, lang::DiffMode mode,
                                        bool is_strict, bool points_to_file) {
  const lang::Source* source = impl_->sources.add("<grad>", text);
  return impl_->entry_guarded([&] {
    Expr expr = impl_->command_expression(*source);
    const auto* global = lang::as<lang::GlobalVar>(expr);
    const Definition* definition =
        points_to_file && global ? impl_->module.lookup(global->name) : nullptr;
    if (definition) {
      if (const lang::Span name = name_span(*definition))
        expr = lang::make_global_var(global->name, name);
    }
    return print_derivative(expr, mode, is_strict, impl_->module, impl_->checker, impl_->pipeline);
  });
}

Result<plot::Dataflow> Session::dataflow(const std::string& text) {
  const std::string grad = std::string(lang::name_of(lang::DiffMode::Grad)) + " ";
  const bool is_gradient = text.starts_with(grad);
  const lang::Source* source =
      impl_->sources.add("<graph>", is_gradient ? text.substr(grad.size()) : text);
  return impl_->entry_guarded([&] {
    return dataflow_of_program(impl_->command_expression(*source), is_gradient, text, impl_->module,
                               impl_->checker, impl_->pipeline);
  });
}

Result<Session::Trace> Session::trace(const std::string& text) {
  std::string call = text;
  std::optional<lang::DiffMode> mode;
  for (const lang::DiffMode each : {lang::DiffMode::Grad, lang::DiffMode::Jvp}) {
    const std::string name(lang::name_of(each));
    if (!text.starts_with(name + " ")) continue;
    mode = each;
    call = text.substr(name.size());
  }
  const lang::Source* source = impl_->sources.add("<trace>", call);
  const interp::JitMode before = impl_->evaluator.mode();
  impl_->evaluator.set_mode(interp::JitMode::Off);
  auto table = impl_->entry_guarded([&] {
    return traced(impl_->command_expression(*source), mode, impl_->module, impl_->checker,
                  impl_->pipeline, impl_->evaluator);
  });
  impl_->evaluator.set_mode(before);
  impl_->pipeline.set_watcher(nullptr);
  return table;
}

namespace {

const opt::Analysis& analysis_of(const Session::PassRequest& request, lang::SourceStore& sources) {
  const lang::Source* source = sources.add("<analysis>", request.analysis);
  const auto size = static_cast<std::uint32_t>(request.analysis.size());
  return opt::analysis_called(request.analysis, {source, 0, size});
}

// Which lines of the program a pass changes, behind its name.
std::string difference_by(const opt::PassCall& call, const std::string& before,
                          const std::string& after, const SessionOptions& options) {
  if (before == after) return fmt::format("// {} changes nothing\n", call.pass->name);
  const bool has_colours =
      options.plot_style && options.plot_style().colours != plot::TextStyle::Colours::None;
  return fmt::format("// {}\n{}", call.pass->name, shown_difference(before, after, has_colours));
}

}  // namespace

Result<Session::Passed> Session::optimised(const PassRequest& request) {
  const lang::Source* source = impl_->sources.add("<passes>", request.passes);
  return impl_->entry_guarded([&] {
    const bool has_list = !request.passes.empty() || request.analysis.empty();
    const PassList list = has_list ? parse_passes(*source).or_throw() : PassList{{}, 0};
    const opt::Analysis* analysis =
        request.analysis.empty() ? nullptr : &analysis_of(request, impl_->sources);
    const EvaluateCore evaluate = [&](const Expr& core) {
      return impl_->evaluator.evaluate(impl_->ready(core));
    };
    std::string_view rest =
        request.expression.empty() ? source->text().substr(list.end) : request.expression;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    const PassTexts texts{
        [&](const std::string& name, const std::string& text) {
          return impl_->sources.add(name, text);
        },
        [&](const std::string& path) {
          for (const auto& file : stdlib::rule_files()) {
            if (path == opt::kLibraryRules + std::string(file.name)) return std::string(file.text);
          }
          return read_file(impl_->pipeline.find_file(path), impl_->options.files).or_throw();
        }};
    std::optional<ModulePasses> program;
    if (rest.empty()) {
      program.emplace(impl_->module, impl_->checker, impl_->pipeline, evaluate, texts);
    } else {
      const lang::Source* text = impl_->sources.add("<opt>", std::string(rest));
      program.emplace(
          impl_->module,
          typed_for_showing(impl_->command_expression(*text), impl_->module, impl_->checker),
          impl_->checker, impl_->pipeline, evaluate, texts);
    }
    if (!request.bindings.list.empty()) {
      program->bind(request.bindings.function, [&](const Expr& function) {
        return with_bound_parameters(
            function, request.bindings, impl_->options.files,
            [&](const std::string& name, const std::string& value, const lang::Type& type) {
              const lang::Source* text = impl_->sources.add(fmt::format("--bind {}", name), value);
              const parser::ValueText read = parser::read_value(*text);
              if (!read.errors.empty()) throw lang::Failure(read.errors);
              if (!read.names.empty()) {
                lang::fail(DiagnosticKind::BadCommand,
                           "what `--bind` gives a parameter is a number, a boolean or a tensor",
                           read.names.front());
              }
              return evaluate(impl_->checked(impl_->command_expression(*text), type)).or_throw();
            });
      });
    }
    Passed result;
    std::string before;
    if (request.shows_differences) before = result.text = program->print(request.is_strict).text;
    for (const opt::PassCall& call : list.calls) {
      if (request.level && call.pass->level > *request.level) continue;
      const auto begun = std::chrono::steady_clock::now();
      program->run(call);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      result.times.emplace_back(call.pass->name, took.count());
      if (request.shows_each)
        result.text +=
            fmt::format("// after {}\n{}", call.pass->name, program->print(request.is_strict).text);
      if (request.shows_differences) {
        std::string after = program->print(request.is_strict).text;
        result.text += difference_by(call, before, after, impl_->options);
        before = std::move(after);
      }
    }
    result.generic = program->generic();
    result.has_changed_meaning = program->has_changed_meaning();
    if (analysis) {
      result.text += program->analyse(*analysis);
    } else if (!request.shows_each && !request.shows_differences) {
      ModulePasses::Printed printed = program->print(request.is_strict);
      result.text = std::move(printed.text);
      result.defined = std::move(printed.defined);
      result.reads_back = printed.reads_back;
    }
    return result;
  });
}

Result<std::string> Session::compiled(const std::string& name) {
  const interp::JitMode mode = impl_->evaluator.mode();
  return impl_->entry_guarded([&] {
    impl_->evaluator.settle();
    const std::int64_t heat = impl_->evaluator.native_heat();
    std::vector<interp::FunctionReport> reports = impl_->evaluator.functions();
    if (name.empty()) return describe_functions(reports, mode, heat);
    std::string text;
    for (const interp::FunctionReport& each : reports) {
      if (each.name == name ||
          (each.owner == name && each.form != interp::FunctionReport::Form::Function))
        text += describe_function(each, mode, heat);
    }
    if (!text.empty()) return text;
    if (const Definition* definition = impl_->module.lookup(name);
        definition && definition->function) {
      return fmt::format(
          "`{}` has not run as a function of its own: it is small enough to be part of its "
          "callers,\n"
          "or has not been called since a definition changed\n",
          name);
    }
    std::vector<std::string> names;
    for (const interp::FunctionReport& each : reports) names.push_back(each.name);
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("no function is called `{}`", name));
    if (const auto close = lang::closest_names(name, names); !close.empty())
      diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  });
}

const std::vector<std::string>& Session::stages() { return show_stages(); }

Result<std::string> Session::source(const std::string& name) {
  return impl_->entry_guarded([&]() -> std::string {
    if (const Definition* definition = impl_->module.lookup(name)) {
      if (!definition->span) {
        lang::fail(DiagnosticKind::BadCommand, fmt::format("`{}` has no text", name));
      }
      return std::string(definition->span.text());
    }
    if (const lang::OpDef* op = find_operator(name)) return operator_source(*op, impl_->prelude);
    if (form_doc(name)) {
      Diagnostic form(DiagnosticKind::BadCommand,
                      fmt::format("`{}` is part of the language and has no text of its own", name));
      form.note(fmt::format("help: `:doc {}` says what it does", name));
      throw lang::Failure(std::move(form));
    }
    unknown_name(name, impl_->module);
  });
}

Result<std::string> Session::info(const std::string& name) {
  return impl_->entry_guarded([&] {
    impl_->evaluator.settle();
    return Informer(impl_->module, impl_->prelude, impl_->checker, impl_->pipeline,
                    impl_->evaluator)
        .about(name);
  });
}

Result<std::string> Session::environment() {
  return impl_->entry_guarded([&] {
    const auto type_of = [&](const Definition& definition) {
      const auto scheme = impl_->checker.type_of(lang::make_global_var(definition.name));
      return scheme ? to_string(*scheme)
                    : fmt::format("no type: {}", scheme.errors().front().message);
    };
    return describe_environment(impl_->module, type_of, columns());
  });
}

Result<Value> Session::evaluate(const std::string& text) {
  const lang::Source* source = impl_->sources.add("<expression>", text);
  return impl_->entry_guarded([&]() -> Value {
    if (impl_->debugger->is_stopped()) return impl_->debugger->evaluate_in_frame(*source).value;
    return impl_->evaluate(impl_->checked(impl_->command_expression(*source)));
  });
}

Result<Value> Session::evaluate(const Expr& expr) {
  return impl_->entry_guarded([&] { return impl_->evaluate(impl_->checked(expr)); });
}

Result<Session::Timing> Session::time(const std::string& text, interp::JitMode mode) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr double kBudget = 0.5;
  constexpr int kMaxRuns = 1001;
  const lang::Source* source = impl_->sources.add("<time>", text);
  const interp::JitMode before = impl_->evaluator.mode();
  impl_->evaluator.set_mode(mode);
  impl_->pipeline.forget();
  auto timing = impl_->entry_guarded([&] {
    const auto start = Clock::now();
    const double compiling_before = impl_->evaluator.compile_seconds();
    const Expr expr = impl_->command_expression(*source);
    const Expr prepared = impl_->ready(impl_->checked(expr));
    Timing result;
    result.has_effects = has_visible_effect(expr, impl_->module);
    const auto thunk = impl_->evaluator.prepare(prepared);
    result.value = impl_->evaluator.run(thunk).or_throw();
    result.first_seconds = seconds_since(start);
    result.compiling_seconds = impl_->evaluator.compile_seconds() - compiling_before;
    result.median_seconds = result.first_seconds;
    result.least_seconds = result.lower_quartile = result.upper_quartile = result.first_seconds;
    result.runs = 1;
    result.loops = describe_loops(impl_->evaluator.recent_loops());
    if (result.has_effects) return result;
    std::vector<double> runs;
    // A run takes about as long as the first, and there is at least one.
    if (impl_->options.expect) impl_->options.expect(std::max(result.first_seconds, kBudget));
    const auto loop_start = Clock::now();
    while (runs.empty() ||
           (static_cast<int>(runs.size()) < kMaxRuns && seconds_since(loop_start) < kBudget)) {
      const auto run_start = Clock::now();
      impl_->evaluator.run(thunk).or_throw();
      runs.push_back(seconds_since(run_start));
    }
    std::sort(runs.begin(), runs.end());
    result.least_seconds = runs.front();
    result.lower_quartile = runs[runs.size() / 4];
    result.median_seconds = runs[runs.size() / 2];
    result.upper_quartile = runs[runs.size() * 3 / 4];
    result.runs = static_cast<int>(runs.size());
    result.loops = describe_loops(impl_->evaluator.recent_loops());
    return result;
  });
  if (impl_->options.expect) impl_->options.expect(0);
  impl_->evaluator.set_mode(before);
  impl_->pipeline.forget();
  return timing;
}

void Session::begin_profile() {
  std::set<const lang::Source*> hidden;
  for (const Definition* each : impl_->module.definitions()) {
    if (each->origin == Origin::Prelude && each->span) hidden.insert(each->span.source);
  }
  impl_->pipeline.forget();  // code that is made from now on says where it stands
  impl_->profile = std::make_unique<interp::Profile>(std::move(hidden));
}

std::string Session::end_profile() {
  std::string text = describe_profile(*impl_->profile);
  impl_->profile.reset();
  impl_->pipeline.forget();
  return text;
}

Result<Session::Profiled> Session::profile(const std::string& text) {
  const lang::Source* source = impl_->sources.add("<profile>", text);
  if (impl_->profile) {
    return Diagnostic(DiagnosticKind::BadCommand, "there is a profile already: `--profile`");
  }
  begin_profile();
  auto run = impl_->entry_guarded([&] {
    const Expr expr = impl_->command_expression(*source);
    const interp::Profile::Scope scope(impl_->profile->place_of({source, 0, 1}));
    const auto thunk = impl_->evaluator.prepare(impl_->ready(impl_->checked(expr)));
    if (!has_visible_effect(expr, impl_->module)) {
      impl_->evaluator.run(thunk).or_throw();
      impl_->evaluator.settle();
      impl_->profile->restart();
    }
    return impl_->evaluator.run(thunk).or_throw();
  });
  Profiled result{end_profile(), {}};
  if (!run) result.errors = run.errors();
  return result;
}

Result<std::vector<double>> Session::run_times(const std::string& text, int runs) {
  using Clock = std::chrono::steady_clock;
  const lang::Source* source = impl_->sources.add("<seconds>", text);
  return impl_->entry_guarded([&] {
    const auto thunk =
        impl_->evaluator.prepare(impl_->ready(impl_->checked(impl_->command_expression(*source))));
    impl_->evaluator.run(thunk).or_throw();
    std::vector<double> seconds;
    const auto first = Clock::now();
    for (int i = 0; i < runs; ++i) {
      const auto start = Clock::now();
      const double taken = std::chrono::duration<double>(start - first).count();
      if (impl_->options.expect && i > 0) impl_->options.expect(taken / i * (runs - i));
      impl_->evaluator.run(thunk).or_throw();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  });
}

lang::Module& Session::module() { return impl_->module; }
interp::Evaluator& Session::evaluator() { return impl_->evaluator; }
interp::Host& Session::host() { return impl_->pipeline; }

std::string Session::pass_times() const {
  std::vector<Row> rows;
  for (const auto& step : impl_->pipeline.step_times()) {
    rows.push_back({step.name, fmt::format("{:>9.3f} ms in {} run{}", step.seconds * 1e3, step.runs,
                                           step.runs == 1 ? "" : "s")});
  }
  return in_columns(rows, 28, impl_->options.columns);
}
const SessionOptions& Session::options() const { return impl_->options; }
void Session::set_interactive(bool is_interactive) { impl_->options.interactive = is_interactive; }
std::size_t Session::columns() const {
  return impl_->options.shown.columns.value_or(impl_->options.columns);
}
void Session::set_shown(const ShownSize& shown) { impl_->options.shown = shown; }
void Session::set_jit(interp::JitMode mode) {
  impl_->evaluator.set_mode(mode);
  impl_->pipeline.forget();
}
void Session::set_kernels(LibraryKernels kernels) {
  impl_->options.kernels = kernels;
  impl_->pipeline.forget();
}
void Session::set_columns(std::size_t columns) { impl_->options.columns = columns; }
void Session::set_seconds(double seconds) { impl_->options.seconds = seconds; }

}  // namespace relay::repl
