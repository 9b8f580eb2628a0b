#include "interp/machine.h"

#include <alloca.h>

#include <new>

#include "interp/prepare.h"
#include "interp/profile.h"
#include "lang/memory.h"
#include "lang/stop.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;
using lang::ValueKind;

Value Machine::fail(lang::Diagnostic diagnostic) {
  signal = Signal::Error;
  error = std::move(diagnostic);
  trail.begin(error->span);
  return {};
}

Value Machine::fail(DiagnosticKind kind, std::string message, lang::Span span) {
  return fail(lang::Diagnostic(kind, std::move(message), span));
}

bool Machine::check_stack(const FunctionCode& code) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) -
                    code.slot_count * sizeof(Value);
  if (here >= lang::frame_limit.load(std::memory_order_relaxed)) return true;
  fail_at_limit();
  return false;
}

Value Machine::fail_at_limit() {
  if (lang::is_stopping()) return fail(lang::stop_diagnostic());
  return fail(DiagnosticKind::StackOverflow,
              "recursion is too deep: the evaluation stack is used up", {});
}

// Where LLVM is not loaded yet, that takes tens of milliseconds of another core, and a step here a
// third of a microsecond.
std::int64_t Machine::native_heat() const {
  constexpr std::int64_t kHot = 10'000;
  constexpr std::int64_t kHotAtFirst = 30'000;
  if (mode == JitMode::Always) return 1;
  return host.compiling().functions() ? kHot : kHotAtFirst;
}

namespace {

// Destroys a frame's slots however the frame is left.
struct Slots {
  Value* values;
  std::size_t count;
  ~Slots() {
    for (std::size_t i = 0; i < count; ++i) values[i].~Value();
  }
};

}  // namespace

Value Machine::run(const FunctionCode& code, const Closure* closure, Value* args,
                   std::size_t count) {
  auto* values = static_cast<Value*>(alloca(code.slot_count * sizeof(Value)));
  for (std::size_t i = 0; i < count; ++i) new (&values[i]) Value(std::move(args[i]));
  for (std::size_t i = count; i < code.slot_count; ++i) new (&values[i]) Value();
  Slots guard{values, code.slot_count};
  Frame frame{*this, code, closure, values};
  while (true) {
    Value result = code.body->eval(frame);
    if (!result.is_empty() || signal != Signal::SelfTailCall) return result;
    signal = Signal::None;  // the arguments already stand in the parameter slots
    if (!check_stack(code)) return {};
    if (is_native(code)) return native.run(code, closure, values);
  }
}

// The closure is held while it runs.
Value Machine::invoke(
    const FunctionCodeRef& code,
    lang::Ref<const Closure> closure,  // NOLINT(performance-unnecessary-value-param)
    Value* args, std::size_t count) {
  if (!check_stack(*code)) return {};
  if (!code->pending_globals.empty() && !resolve_globals(*code)) return {};
  if (is_native(*code)) return native.run(*code, closure.get(), args);
  Value result = run(*code, closure.get(), args, count);
  if (!result.is_empty() || signal != Signal::TailCall) return result;
  return follow_tail_calls();
}

Value Machine::follow_tail_calls() {
  Value result;
  std::int64_t made = 0;
  const lang::Span first = next_span;
  lang::Span last;
  do {
    signal = Signal::None;
    ++made;
    last = next_span;
    const FunctionCodeRef next = std::move(next_code);
    const lang::Ref<const Closure> owner = std::move(next_closure);
    if (!check_stack(*next)) break;
    if (!next->pending_globals.empty() && !resolve_globals(*next)) break;
    if (is_native(*next)) {
      std::vector<Value> args = std::move(next_args);
      result = native.run(*next, owner.get(), args.data());
      break;
    }
    result = run(*next, owner.get(), next_args.data(), next->param_count);
  } while (result.is_empty() && signal == Signal::TailCall);
  if (result.is_empty()) {
    trail.add(last);
    if (made > 2) trail.add_tail_calls(made - 2);
    if (made > 1) trail.add(first);
  }
  return result;
}

// A function becomes a closure without captures.
Value Machine::global_value(const std::string& name, const lang::Type& type, lang::Span span) {
  if (host.is_binding(name)) {
    auto found = host.global_value(name);
    return found ? *found : fail(found.errors().front());
  }
  const FunctionCodeRef target = global(name, type, span);
  if (!target) return {};
  const lang::Ref<Closure> closure(new Closure);
  closure->code = target;
  function_values_.push_back(closure);
  return Value::closure(lang::Ref<lang::ClosureCell>(closure.get()));
}

bool Machine::resolve_globals(const FunctionCode& code) {
  for (const auto& constant : code.pending_globals) {
    Value value = global_value(constant.name, constant.type, constant.span);
    if (value.is_empty()) return false;
    code.constants[constant.index] = std::move(value);
  }
  code.pending_globals.clear();
  return true;
}

Machine::~Machine() {
  for (const lang::Ref<Closure>& closure : function_values_) closure->code = nullptr;
  for (const auto& [key, code] : globals) take_apart(*code);
}

void Machine::forget() {
  // A request to stop, or no memory: less is known then.
  (void)lang::capture([&] {
    history.forget(globals);
    return true;
  });
  const lang::Unfailing retiring;
  for (auto& [key, code] : globals) retired_.add(std::move(code));
  globals.clear();
  retired_.release(function_values_);
}

Value Machine::apply(const Value& callee, Value* args, std::size_t count, lang::Span span) {
  switch (callee.kind()) {
    case ValueKind::Closure: {
      lang::Ref<const Closure> closure(static_cast<const Closure*>(&callee.as_closure()));
      return invoke(closure->code, closure, args, count);
    }
    case ValueKind::Constructor:
      return Value::adt(lang::AdtCell::make(&callee.as_constructor(), {args, count}));
    default:
      return fail(DiagnosticKind::NotAFunction, "the callee is not a function", span);
  }
}

FunctionCodeRef Machine::global(const std::string& name, const lang::Type& type, lang::Span span) {
  const std::string key = name + " : " + lang::to_string(type);
  if (auto it = globals.find(key); it != globals.end()) return it->second;
  const Profile::Scope scope(Profile::kMakingCode);
  auto body = host.prepared(name, type);
  if (!body) {
    lang::Diagnostic first = body.errors().front();
    if (!first.span) first.span = span;
    fail(std::move(first));
    return {};
  }
  ++statistics.functions_specialised;
  FunctionCodeRef code = prepare_function(name, *body);
  if (code) globals.emplace(key, code);
  return code;
}

}  // namespace relay::interp
