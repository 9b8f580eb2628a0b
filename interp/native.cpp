#include "interp/native.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "flow/accumulate.h"
#include "flow/base_cases.h"
#include "flow/cons_calls.h"
#include "flow/layout.h"
#include "flow/ownership.h"
#include "flow/parallel_loops.h"
#include "flow/plain_loops.h"
#include "interp/closed_source.h"
#include "interp/effects.h"
#include "interp/failures.h"
#include "interp/machine.h"
#include "interp/nodes.h"
#include "interp/plan.h"
#include "interp/prepare.h"
#include "interp/profile.h"
#include "interp/scalar.h"
#include "lang/extents.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/stop.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::Value;

NativeTier::~NativeTier() = default;

NativeCode& NativeTier::native_of(const FunctionCode& code) {
  if (!code.native) code.native = lang::Ref<NativeCode>(new NativeCode);
  return *code.native;
}

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// Is there anything in it that native code does itself, other than to hand values to the
// interpreter and to take its results apart?
bool has_native_work(const flow::Block& block) {
  if (block.exit == flow::Exit::TailCall) return true;
  bool interprets = false;
  for (const flow::Step& step : block.steps) {
    switch (step.kind) {
      case flow::StepKind::Interpret:
        interprets = true;
        break;
      case flow::StepKind::Field:
      case flow::StepKind::Tensor:
      case flow::StepKind::Element:
        break;
      default:
        return true;
    }
  }
  return !interprets;
}

// Each run of code without calls and loops takes about as long as compiling a few instructions:
// `--jit=always` compiles it too only once it is repeated.
constexpr std::int64_t kRepeated = 1000;

bool is_straight(const flow::Block& block) {
  if (block.exit == flow::Exit::TailCall) return false;
  return std::all_of(block.steps.begin(), block.steps.end(), [](const flow::Step& step) {
    switch (step.kind) {
      case flow::StepKind::Call:
      case flow::StepKind::CallValue:
      case flow::StepKind::Match:
      case flow::StepKind::Loop:
      case flow::StepKind::Fold:
        return false;
      default:
        return std::all_of(step.blocks.begin(), step.blocks.end(), is_straight);
    }
  });
}

void prepare_interpreted(flow::Function& function) {
  for (const auto& each : function.interpreted) {
    if (each->code) continue;
    FunctionCodeRef code = prepare_function(function.name, each->function);
    code->heat = kNever;  // its native code would interpret it
    each->code = std::move(code);
  }
  for (const auto& local : function.locals) prepare_interpreted(*local);
}

std::size_t step_count(const flow::Block& block) {
  std::size_t count = block.steps.size();
  for (const flow::Step& step : block.steps) {
    for (const flow::Block& inner : step.blocks) count += step_count(inner);
    for (const flow::Arm& arm : step.arms) count += step_count(arm.body);
  }
  return count;
}

// Compiling takes longer than in proportion.
void check_size(const flow::Function& function) {
  constexpr std::size_t kMostSteps = 5'000;
  const std::size_t steps = step_count(function.body);
  if (steps > kMostSteps) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: {} steps, more than {}", steps, kMostSteps),
               function.source->span);
  }
  for (const auto& local : function.locals) check_size(*local);
}

void append_with_locals(flow::Function& function, std::vector<flow::Function*>& functions) {
  functions.push_back(&function);
  for (const auto& local : function.locals) append_with_locals(*local, functions);
}

// What is lowered becomes what can be compiled.
void finish(const std::vector<flow::Function*>& functions) {
  flow::make_cons_calls(functions);
  flow::accumulate_calls(functions);
  flow::decide_base_cases(functions);
  flow::mark_plain_loops(functions);
  flow::settle_ownership(functions);
  flow::mark_parallel_loops(functions);
}

}  // namespace

namespace {

bool is_kernel(const lang::Expr& expr) {
  const auto* call = lang::as<lang::Call>(expr);
  const auto* group = call ? lang::as<lang::Function>(call->callee) : nullptr;
  if (group) return lang::has_fact(*group, lang::FunctionFact::Primitive);
  return lang::is_lowerable(expr);
}

bool has_only_kernels(const flow::Function& function) {
  return std::all_of(
      function.interpreted.begin(), function.interpreted.end(),
      [](const auto& each) { return is_kernel(lang::cast<lang::Function>(each->function).body); });
}

// What is told to the host is told by the interpreter: it may be stopped there.
void check_watched(const flow::Function& function, const FunctionCode& code) {
  for (const auto& each : function.interpreted) {
    const auto* call = lang::as<lang::Call>(lang::cast<lang::Function>(each->function).body);
    const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
    if (op && op->op->name.starts_with(kTracePrefix)) {
      lang::fail(DiagnosticKind::Unsupported, "not supported: a function that is watched",
                 code.source->span);
    }
  }
}

void check_form(const FunctionCode& code) {
  const auto refuse = [&](const std::string& what) {
    lang::fail(DiagnosticKind::Unsupported, "not supported: " + what,
               code.source ? code.source->span : lang::Span());
  };
  if (!code.source) refuse("a constructor as a function");
  if (const std::string* compiler = lang::compiler_of(code.source))
    refuse(fmt::format("what the external compiler `{}` runs", *compiler));
  // A loop takes its captures along once; what is called anew for each element would do it each
  // time.
  if (!code.captured.empty() && !code.self)
    refuse(fmt::format("a closure with what it captures: `{}`", code.captured.front()->name));
}

}  // namespace

// False if it is refused.
bool NativeTier::lower(const FunctionCode& code) {
  using State = NativeCode::State;
  NativeCode& native = native_of(code);
  if (native.state != State::New) return native.state != State::Refused;
  native.state = State::UnderWay;
  const std::size_t first = lowered_.size();
  const FunctionCode* const around = std::exchange(lowering_, &code);
  const auto result = lang::capture([&] {
    check_form(code);
    flow::declare(native.flow, code.name, closed_source(code));
    flow::lower(native.flow, *this);
    check_watched(native.flow, code);
    if (!has_native_work(native.flow.body)) {
      native.is_kernels = has_only_kernels(native.flow);
      lang::fail(DiagnosticKind::Unsupported,
                 native.is_kernels ? "not supported: a function of nothing but kernels"
                                   : "not supported: a function of nothing but what is interpreted",
                 code.source->span);
    }
    check_size(native.flow);
    prepare_interpreted(native.flow);
    return true;
  });
  lowering_ = around;
  if (result) {
    native.state = State::Lowered;
    lowered_.emplace_back(const_cast<FunctionCode*>(&code));
    return true;
  }
  native.flow = flow::Function();
  take_back(first);  // they may call it
  native.state = State::New;
  if (lang::is_stopping()) return false;
  native.state = State::Refused;
  native.refusal = result.errors().front();
  if (!native.refusal->span && code.source) native.refusal->span = code.source->span;
  return false;
}

// What has been lowered is as if it had not been.
void NativeTier::take_back(std::size_t first) {
  for (std::size_t i = first; i < lowered_.size(); ++i) {
    lowered_[i]->native->flow = flow::Function();
    lowered_[i]->native->state = NativeCode::State::New;
  }
  lowered_.resize(first);
}

flow::Function* NativeTier::callee(const lang::GlobalVar& global) {
  if (machine_.host.is_binding(global.name)) return nullptr;
  const FunctionCodeRef code = machine_.global(global.name, global.type, global.span);
  if (!code) {  // it is found when it is called
    machine_.signal = Signal::None;
    machine_.error.reset();
    machine_.trail.clear();
    lang::fail(DiagnosticKind::Unsupported, "not supported: a call of what has an error",
               global.span);
  }
  if (!lower(*code)) return nullptr;
  lowering_->calls.push_back(code);
  return &code->native->flow;
}

Value NativeTier::value_of(const lang::Expr& atom) {
  switch (atom->kind) {
    case lang::ExprKind::Operator:
      return operator_value(atom);
    case lang::ExprKind::ConstructorRef:
      return closure_of(lang::cast<lang::ConstructorRef>(atom).constructor);
    default: {
      const auto& global = lang::cast<lang::GlobalVar>(atom);
      Value value = machine_.global_value(global.name, global.type, global.span);
      if (!value.is_empty()) return value;
      machine_.signal = Signal::None;
      machine_.error.reset();
      machine_.trail.clear();
      lang::fail(DiagnosticKind::Unsupported, "not supported: a global without a value",
                 global.span);
    }
  }
}

std::optional<loops::LoweredGroup> NativeTier::kernels(const lang::Function& group,
                                                       std::span<const loops::Layout> args) {
  constexpr std::int64_t kMostCost = 20'000;    // a launch takes as long as a thousand
  if (Profile::running()) return std::nullopt;  // it charges what the interpreter begins
  auto lowered = loops::lower(group, args, machine_.host.kernel_library(), loops::Rearranged::Copy);
  if (!lowered) return std::nullopt;
  std::int64_t cost = 0;
  for (const loops::Launch& launch : lowered->launches) cost += launch.cost;
  if (cost > kMostCost) return std::nullopt;
  return std::move(*lowered);
}

std::optional<std::uint64_t> NativeTier::scalar(lang::Prim prim, lang::DType operand,
                                                lang::DType result, const std::uint64_t* args) {
  return scalar_value(prim, operand, result, args);
}

const Value& NativeTier::closure_of(const lang::Constructor* constructor) {
  Value& value = constructors_[constructor];
  if (value.is_empty()) value = constructor_closure(constructor);
  return value;
}

// Is there what makes code of functions? Where it is being loaded, that is seen later: it takes
// long, and is not begun before there is something to compile.
bool NativeTier::has_compiler(const FunctionCode& root) {
  Compiling& compiling = machine_.host.compiling();
  const WorkQueue::Ticket loaded = compiling.load_functions();
  if (machine_.mode == JitMode::Always) compiling.wait(loaded, lang::poll);
  if (compiling.functions()) return true;
  if (compiling.has_loaded_functions()) {
    native_of(root).state = NativeCode::State::Refused;
    native_of(root).refusal = lang::Diagnostic(
        DiagnosticKind::Unsupported, "not supported: this program was built without the JIT");
  }
  return false;
}

// Begins to make code of a function, and of those that it calls.
void NativeTier::compile(const FunctionCode& root) {
  using State = NativeCode::State;
  const auto start = std::chrono::steady_clock::now();
  lowered_.clear();
  if (lower(root) && root.heat < kRepeated && is_straight(root.native->flow.body)) {
    root.native->is_straight = true;
    take_back(0);
    return;
  }
  if (lowered_.empty()) return;
  Batch batch;
  batch.root = FunctionCodeRef(const_cast<FunctionCode*>(&root));
  for (const FunctionCodeRef& code : lowered_)
    append_with_locals(code->native->flow, batch.functions);
  try {
    finish(batch.functions);
    batch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    batch.made = machine_.host.compiling().code_of(batch.functions);
    if (!batch.made) {
      root.native->needs_compiler = true;
      if (has_compiler(root)) batch.made = machine_.host.compiling().code_of(batch.functions);
    }
  } catch (...) {
    take_back(0);
    throw;
  }
  if (!batch.made) {
    const State seen = root.native->state;  // refused, if there never will be a compiler
    take_back(0);
    if (seen == State::Refused) root.native->state = seen;
    return;
  }
  for (flow::Function* function : batch.functions) function->is_compiled = true;
  batch.codes = std::exchange(lowered_, {});
  batches_.push_back(std::move(batch));
}

namespace {

// Code that does not verify is a mistake of ours, and the function is interpreted.
lang::Diagnostic no_code(const std::string& problem) {
  lang::Diagnostic refusal(DiagnosticKind::Unsupported, "not supported: LLVM made no code of it");
  const std::string first = problem.substr(0, problem.find('\n'));
  if (!first.empty()) refusal.note("note: it does not verify: " + first);
  return refusal;
}

}  // namespace

// What has been made since it was last looked.
void NativeTier::install_done() {
  while (!batches_.empty() && machine_.host.compiling().is_done(batches_.front().made->ticket)) {
    install(batches_.front());
    batches_.pop_front();
  }
}

void NativeTier::install(const Batch& batch) {
  using State = NativeCode::State;
  const std::vector<flow::Function*>& functions = batch.functions;
  const auto& codes = batch.made->codes;
  std::size_t next = 0;
  for (const FunctionCodeRef& code : batch.codes) {
    NativeCode& native = *code->native;
    while (functions[next] != &native.flow) ++next;
    native.entry = codes[next].entry;
    if (native.entry) {
      native.code = batch.made;
      native.state = State::Compiled;
      for (std::size_t i = next; i < functions.size() && (i == next || functions[i]->is_local); ++i)
        native.size += codes[i].size;
      if (code != batch.root) {
        native.compiled_with = batch.root->name.empty() ? "an entry" : "`" + batch.root->name + "`";
      }
      ++machine_.statistics.functions_compiled;
    } else {
      native.state = State::Refused;
      native.refusal = no_code(batch.made->problem);
    }
  }
  native_of(*batch.root).seconds = batch.seconds + batch.made->seconds;
}

void NativeTier::settle() {
  machine_.host.compiling().settle(lang::poll);
  install_done();
}

std::vector<FunctionCodeRef> NativeTier::lowered(const FunctionCode& code) {
  const std::size_t first = lowered_.size();
  if (!lower(code)) return {};
  std::vector<FunctionCodeRef> made(lowered_.begin() + static_cast<std::ptrdiff_t>(first),
                                    lowered_.end());
  std::vector<flow::Function*> functions;
  for (const FunctionCodeRef& each : made) append_with_locals(each->native->flow, functions);
  if (!functions.empty()) finish(functions);
  for (flow::Function* function : functions) function->is_compiled = true;  // it is settled
  std::reverse(made.begin(), made.end());  // callees are lowered before their callers
  return made;
}

bool NativeTier::consider(const FunctionCode& code) {
  using State = NativeCode::State;
  if (code.native && code.native->entry) return true;
  if (code.native && code.native->is_straight && code.heat < kRepeated) return false;
  if (machine_.mode == JitMode::Off || code.heat < machine_.native_heat()) return false;
  install_done();
  if (code.native && code.native->entry) return true;
  const Profile::Scope scope(Profile::kMakingCode);
  if (!code.native || code.native->state == State::New) {
    lang::poll();
    if (code.native && code.native->needs_compiler && !has_compiler(code)) return false;
    compile(code);
    if (code.native->state == State::New && !code.native->is_straight &&
        !code.native->needs_compiler)
      code.native->state = State::Refused;
  }
  if (code.native->state == State::Lowered && machine_.mode == JitMode::Always) settle();
  return code.native->entry != nullptr;
}

bool NativeTier::make(const FunctionCode& code) {
  code.heat = std::max({code.heat, kRepeated, machine_.native_heat()});
  return consider(code);
}

Value NativeTier::run(const FunctionCode& code, const Closure* closure, Value* args) {
  std::vector<Value> with_captures;
  if (!code.captured.empty()) {
    with_captures.assign(std::make_move_iterator(args),
                         std::make_move_iterator(args + code.param_count));
    with_captures.insert(with_captures.end(), closure->captures.begin(), closure->captures.end());
    args = with_captures.data();
  }
  Profile* const profile = Profile::running();
  const Profile::Scope scope(
      profile, profile && code.source ? profile->place_of(code.source->span) : Profile::kNowhere);
  const lang::Ref<NativeCode> held = code.native;
  const Plan::Scope planned(held.get(), [&] {
    Plan::Part part;
    part.text = code.name.empty() ? "an expression" : code.name;
    part.consists_of = "native code";
    return part;
  });
  Value result;
  machine_.cells = lang::cell_lists.data();
  const int status = held->entry(&machine_, args, &result);
  if (status == 0) return result;
  if (escaped_) std::rethrow_exception(std::exchange(escaped_, nullptr));
  return {};
}

}  // namespace relay::interp
