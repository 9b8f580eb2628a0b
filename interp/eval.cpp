#include "interp/eval.h"

#include <thread>

#include "interp/machine.h"
#include "interp/prepare.h"
#include "interp/stack.h"
#include "lang/memory.h"

namespace relay::interp {

using lang::Diagnostic;
using lang::Expr;
using lang::Result;
using lang::Value;

namespace {

// The expression as a function without parameters.
FunctionCodeRef thunk_of(const Expr& expr) {
  return prepare_function("", lang::make_function({}, expr->type, expr, {}, nullptr, expr->span));
}

int threads_or_cores(int threads) {
  if (threads > 0) return threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

// What is evaluated, for as long as it may run.
struct Evaluator::Entry {
  RunHistory& history;
  FunctionCodeRef code;

  Entry(RunHistory& told, const Expr& expr) : history(told), code(thunk_of(expr)) {
    history.add_entry(*code);
  }
  // Code may be nested deeply.
  ~Entry() {
    EvaluationStack::instance().run([&] {
      // A request to stop, or no memory: less is known then.
      (void)lang::capture([&] {
        history.drop_entry(*code);
        return true;
      });
      code = nullptr;
    });
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
};

struct Evaluator::Impl {
  Machine machine;

  Impl(Host& host, JitMode mode, int threads) : machine(host, mode, threads) {}

  Value run_entry(const FunctionCodeRef& code) {
    const std::int64_t before = lang::allocations_made();
    Value value = machine.invoke(code, nullptr, nullptr, 0);
    machine.statistics.allocations += lang::allocations_made() - before;
    return value;
  }

  // What the history tells; code may be nested deeply.
  template <class Result>
  std::vector<Result> ask(std::vector<Result> (RunHistory::*question)(const Globals&) const) const {
    std::optional<lang::Result<std::vector<Result>>> answer;
    EvaluationStack::instance().run([&] {
      answer.emplace(lang::capture([&] { return (machine.history.*question)(machine.globals); }));
    });
    return std::move(*answer).or_throw();
  }

  // Runs `body` on the evaluation stack and turns the machine's state into a Result.
  Result<Value> guarded(const std::function<Value()>& body) {
    Value value;
    std::vector<Diagnostic> errors;
    std::exception_ptr internal;
    const Walks::Mark mark = machine.walks.mark();
    const auto run = [&] {
      try {
        auto outcome = lang::capture(body);
        if (outcome)
          value = *std::move(outcome);
        else
          errors = outcome.errors();
      } catch (...) {
        internal = std::current_exception();
      }
    };
    EvaluationStack::instance().run(run);
    machine.walks.restore(mark);
    const Signal signal = machine.signal;
    machine.signal = Signal::None;
    if (internal) std::rethrow_exception(internal);
    for (Diagnostic& diagnostic : errors) lang::use_text_places(diagnostic);
    if (!errors.empty()) return errors;
    if (!value.is_empty()) return value;
    RELAY_CHECK(signal == Signal::Error && machine.error,
                "evaluation gave neither a value nor an error");
    Diagnostic error = std::move(*machine.error);
    machine.error.reset();
    machine.trail.describe(error,
                           [&](lang::Span place) { return machine.host.function_at(place); });
    machine.trail.clear();
    return error;
  }
};

Evaluator::Evaluator(Host& host, JitMode mode, int threads)
    : impl_(std::make_unique<Impl>(host, mode, threads_or_cores(threads))) {}
Evaluator::~Evaluator() = default;

Result<Value> Evaluator::evaluate(const Expr& expr) {
  return impl_->guarded([&] { return impl_->run_entry(Entry(impl_->machine.history, expr).code); });
}

Evaluator::Prepared Evaluator::prepare(const Expr& expr) {
  return std::make_shared<const Entry>(impl_->machine.history, expr);
}

Result<Value> Evaluator::run(const Prepared& prepared) {
  return impl_->guarded([&] { return impl_->run_entry(prepared->code); });
}

Result<Value> Evaluator::call(const Value& function, std::vector<Value> args) {
  return impl_->guarded(
      [&] { return impl_->machine.apply(function, args.data(), args.size(), {}); });
}

void Evaluator::forget() {
  EvaluationStack::instance().run([&] { impl_->machine.forget(); });
}
void Evaluator::set_mode(JitMode mode) { impl_->machine.mode = mode; }
JitMode Evaluator::mode() const { return impl_->machine.mode; }
void Evaluator::set_threads(int threads) { impl_->machine.threads = threads_or_cores(threads); }
int Evaluator::threads() const { return impl_->machine.threads; }
const Statistics& Evaluator::statistics() const { return impl_->machine.statistics; }
double Evaluator::compile_seconds() const { return impl_->machine.host.compiling().seconds(); }
std::vector<FunctionReport> Evaluator::functions() const {
  return impl_->ask(&RunHistory::functions);
}
std::vector<LoopReport> Evaluator::loops() const { return impl_->ask(&RunHistory::loops); }
std::vector<LoopReport> Evaluator::recent_loops() const {
  return impl_->ask(&RunHistory::recent_loops);
}
void Evaluator::settle() { impl_->machine.native.settle(); }
std::int64_t Evaluator::native_heat() const { return impl_->machine.native_heat(); }
void Evaluator::on_machine(const std::function<void(Machine&)>& body) {
  EvaluationStack::instance().run([&] { body(impl_->machine); });
}

}  // namespace relay::interp
