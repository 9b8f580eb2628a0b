#include "repl/trace.h"

#include <fmt/format.h>

#include "lang/derivative.h"
#include "repl/instrument.h"
#include "repl/trace_recorder.h"

namespace relay::repl {

namespace {

// Derivatives belong to the lines of a function with a text; any other can be called in one.
[[noreturn]] void fail_without_text(const lang::Call& call, lang::DiffMode mode,
                                    const lang::Type& type) {
  lang::Diagnostic diagnostic(lang::DiagnosticKind::BadCommand,
                              "nothing to trace: the function has no text of its own here",
                              call.callee->span);
  const auto* function = lang::as<lang::FunctionType>(type);
  std::string args;
  std::string params;
  bool has_texts = function && call.callee->span && !(call.callee->span == call.span);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    has_texts &= static_cast<bool>(call.args[i]->span);
    args += (i == 0 ? "" : ", ") + std::string(call.args[i]->span ? call.args[i]->span.text() : "");
    params += fmt::format("{}x{}", i == 0 ? "" : ", ", i == 0 ? "" : std::to_string(i));
  }
  if (has_texts) {
    diagnostic.note(
        fmt::format("help: a function around it has: `:trace {} (fn ({}) {{ {}({}) }})({})`",
                    name_of(mode), params, call.callee->span.text(), params, args));
  }
  throw lang::Failure(std::move(diagnostic));
}

struct Watched {
  lang::Expr run;
  std::vector<std::string> columns;  // the derivatives, the inner one first
};

// An expression is the body of a function without parameters, unless it calls one with a text.
Watched watched_run(const lang::Expr& given, Instrumenter& instrumenter,
                    typecheck::Checker& checker) {
  const lang::Expr typed = checker.check(given).or_throw();
  if (const auto* call = lang::as<lang::Call>(typed)) {
    const lang::Expr callee = instrumenter.instrumented(call->callee);
    if (!instrumenter.places().empty())
      return {lang::make_call(callee, call->args, call->attrs, typed->span, typed->type), {}};
  }
  const lang::Type type = lang::function_type({}, typed->type);
  const lang::Expr body = instrumenter.instrumented(
      lang::make_function({}, typed->type, typed, {}, nullptr, typed->span, type));
  if (instrumenter.places().empty()) {
    lang::fail(lang::DiagnosticKind::BadCommand, "nothing to trace: nothing is computed here",
               given->span);
  }
  return {lang::make_call(body, {}, nullptr, typed->span, typed->type), {}};
}

// Of the derivative of a derivative, the function that both are of.
lang::Expr innermost_instrumented(const lang::Expr& function, Instrumenter& instrumenter) {
  const auto* derivative = lang::as<lang::Differentiate>(function);
  if (!derivative) return instrumenter.instrumented(function);
  return lang::make_differentiate(derivative->mode,
                                  innermost_instrumented(derivative->fn, instrumenter),
                                  function->span, function->type);
}

std::string column_of(lang::DiffMode mode) {
  return mode == lang::DiffMode::Jvp ? "tangent" : "adjoint";
}

std::vector<std::string> columns_of(const lang::Expr& callee) {
  std::vector<std::string> columns;
  for (const auto* form = lang::as<lang::Differentiate>(callee); form;
       form = lang::as<lang::Differentiate>(form->fn)) {
    if (form->mode != lang::DiffMode::Grad && form->mode != lang::DiffMode::Jvp) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: a trace of `{}`; `grad` and `jvp` have one",
                             name_of(form->mode)),
                 callee->span);
    }
    columns.insert(columns.begin(), column_of(form->mode));
  }
  if (columns.size() > 2) {
    lang::fail(lang::DiagnosticKind::Unsupported, "not supported: a trace of a third derivative",
               callee->span);
  }
  if (columns.size() == 2 && columns[0] == columns[1]) columns[1] = "2nd " + columns[0];
  return columns;
}

Watched watched_derivative(const lang::Expr& given, lang::DiffMode mode, Instrumenter& instrumenter,
                           typecheck::Checker& checker) {
  const auto* call = lang::as<lang::Call>(given);
  if (!call) {
    lang::fail(lang::DiagnosticKind::BadCommand,
               "`:trace` takes the call of a function here, as in `grad f(x)` or `jvp f(x, dx)`",
               given->span);
  }
  const lang::Expr whole =
      lang::make_call(lang::make_differentiate(mode, call->callee, call->callee->span), call->args,
                      call->attrs, given->span);
  const lang::Expr typed = checker.check(whole).or_throw();
  const auto& typed_call = lang::cast<lang::Call>(typed);
  const auto& derivative = lang::cast<lang::Differentiate>(typed_call.callee);
  std::vector<std::string> columns = columns_of(typed_call.callee);
  const lang::Expr function = innermost_instrumented(derivative.fn, instrumenter);
  if (instrumenter.places().empty()) fail_without_text(*call, mode, derivative.fn->type);
  const lang::Expr callee =
      lang::make_differentiate(mode, function, derivative.span, derivative.type);
  return {lang::make_call(callee, typed_call.args, typed_call.attrs, typed->span, typed->type),
          std::move(columns)};
}

}  // namespace

Session::Trace traced(const lang::Expr& call, std::optional<lang::DiffMode> mode,
                      lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                      interp::Evaluator& evaluator) {
  Instrumenter instrumenter(module, checker, pipeline);
  lang::Expr given = call;
  // `grad(f)(x)` is `grad f(x)`
  const auto* outer = lang::as<lang::Call>(call);
  const auto* form = outer ? lang::as<lang::Differentiate>(outer->callee) : nullptr;
  if (!mode && form && (form->mode == lang::DiffMode::Grad || form->mode == lang::DiffMode::Jvp)) {
    mode = form->mode;
    given = lang::make_call(form->fn, outer->args, outer->attrs, call->span);
  }
  const Watched watched = mode ? watched_derivative(given, *mode, instrumenter, checker)
                               : watched_run(given, instrumenter, checker);
  TraceRecorder recorder(instrumenter, watched.columns);
  pipeline.set_watcher(&recorder);
  const auto value =
      evaluator.evaluate(pipeline.finish(pipeline.optimise(pipeline.to_core(watched.run))));
  pipeline.set_watcher(nullptr);
  if (!value && recorder.is_empty()) throw lang::Failure(value.errors());
  if (!value) recorder.fail(std::string(lang::name_of(value.errors().front().kind)));
  return {recorder.table(), value ? std::vector<lang::Diagnostic>{} : value.errors()};
}

}  // namespace relay::repl
