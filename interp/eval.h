#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "interp/compiling.h"
#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/value.h"
#include "loops/loop_ir.h"
#include "loops/normal_form.h"

namespace relay::lang {
class ExternalCompilers;  // lang/external_compiler.h
}

namespace relay::interp {

struct FunctionReport;
struct LoopReport;
class Machine;  // interp/machine.h

enum class JitMode { Off, Auto, Always };

struct Statistics {
  std::int64_t kernels_run_lanes = 0;
  std::int64_t kernels_run_native = 0;
  std::int64_t kernels_run_library = 0;
  std::int64_t tensors_copied = 0;  // between devices
  // With JitMode::Always: the code of kernels that were to be native and ran on lanes, each once.
  std::set<std::string> kernels_fallen_back;
  std::int64_t kernels_compiled = 0;
  std::int64_t functions_specialised = 0;
  std::int64_t functions_compiled = 0;
  std::int64_t allocations = 0;  // of the evaluating thread while it evaluated
};

// What the evaluator needs from outside.
class Host {
 public:
  virtual ~Host() = default;
  // The specialised, optimised, ANF body of a global at a ground function type (a Function). Called
  // once per use site.
  virtual lang::Result<lang::Expr> prepared(const std::string& name, const lang::Type& type) = 0;
  // The literal of the function that gives the result of `function`, a prepared literal, and its
  // pullback. The free variables are the same; `self` is the one by which it calls itself, or null.
  virtual lang::Result<lang::Expr> with_pullback(const lang::Expr& function,
                                                 const lang::VariableRef& self) = 0;
  // The same for the function that takes the tangents of `function` itself and of its arguments,
  // and a walk (ad/adjoint_cells), too, and gives the tangent of the result with the result.
  virtual lang::Result<lang::Expr> with_tangent(const lang::Expr& function,
                                                const lang::VariableRef& self) = 0;
  // The value of a top-level binding.
  virtual lang::Result<lang::Value> global_value(const std::string& name) = 0;
  // Is this global a top-level binding (a value) and not a function?
  virtual bool is_binding(const std::string& name) = 0;
  // Files of tensors: what `load` gives, and where `save` puts a value. The attributes are those of
  // the call; failures have no place.
  virtual lang::Result<lang::TensorRef> load(const lang::AttrsRef& attrs) = 0;
  virtual lang::Result<bool> save(const lang::Value& value, const lang::AttrsRef& attrs) = 0;
  // What `plot` does: draws a value, where `print` goes, or writes the picture to a file.
  virtual lang::Result<bool> plot(const lang::Value& value, const lang::AttrsRef& attrs) = 0;
  // Where `print` goes.
  virtual void write(std::string_view text) = 0;
  // So many of the steps of a loop whose number is known are done; of loops within each other only
  // the outermost is told of, and of its end.
  virtual void at_step(std::int64_t /*done*/, std::int64_t /*total*/) {}
  // What an operator `trace.NAME` with the effect Print tells, and the value of its call; an error
  // ends the evaluation.
  virtual lang::Result<lang::Value> trace(const std::string&, const lang::Attrs&,
                                          const std::vector<lang::Value>&) {
    return lang::Value::unit();
  }
  // What makes native code; the same for all evaluators of a host, which run in turn.
  virtual Compiling& compiling() = 0;
  // The function whose text holds a place, in words: "`f`", "a function in `f`"; empty for none.
  virtual std::string function_at(lang::Span) { return {}; }
  // What takes normal forms, or null. Asked for each group that is lowered; loads libraries when a
  // form is large enough for one.
  virtual loops::KernelLibrary* kernel_library() = 0;
  // What runs functions with the fact `Compiler`; null: nothing does.
  virtual lang::ExternalCompilers* external_compilers() { return nullptr; }
};

// The tree evaluator. Runs typed ANF; expects the passes of opt/ to have run (it needs ANF, not
// optimisation).
class Evaluator {
 public:
  // With 0 threads: as many as there are cores.
  Evaluator(Host& host, JitMode mode, int threads);
  ~Evaluator();

  // Evaluates a closed typed ANF expression. Runs on a reserved stack of its own, so recursion
  // depth is bounded by memory; tail calls take no stack. Fails with a run-time diagnostic (with
  // the place), or with that of a stop (lang/stop.h), which stays requested.
  lang::Result<lang::Value> evaluate(const lang::Expr& expr);
  // The two halves of evaluate, for running the same code several times. What is prepared does not
  // outlive the evaluator.
  struct Entry;
  using Prepared = std::shared_ptr<const Entry>;
  Prepared prepare(const lang::Expr& expr);
  lang::Result<lang::Value> run(const Prepared& prepared);
  // Calls a function value.
  lang::Result<lang::Value> call(const lang::Value& function, std::vector<lang::Value> args);

  // Forget prepared code (after a redefinition).
  void forget();
  void set_mode(JitMode mode);
  JitMode mode() const;
  // How many threads share the work of a kernel or a loop, from the next run on; 0: as many as
  // there are cores. No bit depends on it.
  void set_threads(int threads);
  int threads() const;
  const Statistics& statistics() const;
  // How long compilers have worked, in the background or not.
  double compile_seconds() const;
  // The functions that have run since the last `forget` (interp/function_report.h), and index
  // notation that has run without being a kernel: of all time, or since then.
  std::vector<FunctionReport> functions() const;
  std::vector<LoopReport> loops() const;
  std::vector<LoopReport> recent_loops() const;
  // Waits for native code that is being made.
  void settle();
  // So many calls, and steps that are tail calls of itself, make a function native.
  std::int64_t native_heat() const;
  // For interp/ahead: on the stack where evaluations run.
  void on_machine(const std::function<void(Machine&)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::interp
