#pragma once

#include <optional>
#include <unordered_map>

#include "interp/call_trail.h"
#include "interp/code.h"
#include "interp/function_report.h"
#include "interp/native.h"
#include "interp/retired.h"
#include "interp/stack.h"
#include "interp/walks.h"

namespace relay::interp {

enum class Signal : std::uint8_t { None, Error, TailCall, SelfTailCall };

// The state of the evaluator: what is under way, and the code prepared so far.
class Machine : public flow::Runner {
 public:
  Machine(Host& host, JitMode mode, int threads) : host(host), mode(mode), threads(threads) {
    frame_limit = &lang::frame_limit;
  }
  // Function values of globals are of no use after it: code and they hold one another.
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Calls a function with `count` arguments, which are moved from.
  lang::Value invoke(const FunctionCodeRef& code, lang::Ref<const Closure> closure,
                     lang::Value* args, std::size_t count);
  // Calls any function value: closure, constructor.
  lang::Value apply(const lang::Value& callee, lang::Value* args, std::size_t count,
                    lang::Span span);
  // Sets the pending error and returns Empty.
  lang::Value fail(lang::Diagnostic diagnostic);
  lang::Value fail(lang::DiagnosticKind kind, std::string message, lang::Span span);
  // The prepared body of a global at a ground type; null after an error.
  FunctionCodeRef global(const std::string& name, const lang::Type& type, lang::Span span);
  // A global as a value; Empty after an error.
  lang::Value global_value(const std::string& name, const lang::Type& type, lang::Span span);
  // The stack is used up, or somebody asks to stop.
  lang::Value fail_at_limit();
  // Calls and steps of a function after which native code pays.
  std::int64_t native_heat() const;

  Host& host;
  JitMode mode;
  int threads;
  Statistics statistics;
  std::int64_t total_cost = 0;                // scalar operations run by lanes so far
  std::vector<lang::TensorRef> spare_leaves;  // empty: memory for those of the next group

  int counted_loops = 0;  // that run now, within each other (counted_steps.h)

  Walks walks;
  NativeTier native{*this};
  RunHistory history;

  Signal signal = Signal::None;
  std::optional<lang::Diagnostic> error;
  CallTrail trail;  // of the error
  // A tail call to make (Signal::TailCall).
  FunctionCodeRef next_code;
  lang::Ref<const Closure> next_closure;
  std::vector<lang::Value> next_args;
  lang::Span next_span;

  // Drops the prepared globals; those that may still run stay alive.
  void forget();

  Globals globals;

 private:
  RetiredCode retired_;
  std::vector<lang::Ref<Closure>> function_values_;  // of globals
  // Makes the tail call that has been asked for, and those that follow.
  lang::Value follow_tail_calls();
  lang::Value run(const FunctionCode& code, const Closure* closure, lang::Value* args,
                  std::size_t count);
  bool check_stack(const FunctionCode& code);
  bool is_native(const FunctionCode& code) {
    ++code.heat;
    return mode != JitMode::Off && code.heat >= native_heat() && native.consider(code);
  }
  bool resolve_globals(const FunctionCode& code);
};

// Reads an operand; LastUse moves it out of its slot.
inline lang::Value fetch(Operand operand, Frame& frame) {
  switch (operand.from) {
    case From::Slot:
      return frame.slots[operand.index];
    case From::LastUse:
      return std::move(frame.slots[operand.index]);
    case From::Capture:
      return frame.closure->captures[operand.index];
    case From::Constant:
      return frame.function.constants[operand.index];
    case From::Self:
      return lang::Value::closure(
          lang::Ref<lang::ClosureCell>(const_cast<Closure*>(frame.closure)));
  }
  return {};
}

// Looks at an operand without taking it. Not for Self.
inline const lang::Value& peek(Operand operand, Frame& frame) {
  switch (operand.from) {
    case From::Capture:
      return frame.closure->captures[operand.index];
    case From::Constant:
      return frame.function.constants[operand.index];
    default:
      return frame.slots[operand.index];
  }
}

}  // namespace relay::interp
