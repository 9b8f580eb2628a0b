#include "interp/native.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "flow/base_cases.h"
#include "flow/cons_calls.h"
#include "flow/layout.h"
#include "flow/ownership.h"
#include "interp/failures.h"
#include "interp/machine.h"
#include "interp/nodes.h"
#include "interp/prepare.h"
#include "interp/profile.h"
#include "interp/scalar.h"
#include "lang/extents.h"
#include "lang/lowerable.h"
#include "lang/stop.h"

namespace relay::interp {

using flow::Runner;
using flow::Site;
using lang::DiagnosticKind;
using lang::Value;

// --- What native code calls ---

struct NativeServices {
  static Machine& machine(Runner* runner) { return *static_cast<Machine*>(runner); }

  // No exception leaves: it goes on where native code was entered.
  template <class Result, class Body>
  static Result guarded(Runner* runner, Result failed, Body body) {
    try {
      return body(machine(runner));
    } catch (...) {
      machine(runner).native.escaped_ = std::current_exception();
      return failed;
    }
  }
  template <class Body>
  static int failing(Runner* runner, Body body) {
    return guarded(runner, 1, [&](Machine& machine) {
      body(machine);
      return 1;
    });
  }

  static int divided_by_zero(Runner* runner, const Site* site) {
    return failing(runner, [&](Machine& machine) { fail_division(machine, site->span); });
  }
  static int out_of_range(Runner* runner, const Site* site, const lang::Tensor* tensor,
                          std::uint64_t axis, std::int64_t index) {
    return failing(
        runner, [&](Machine& machine) { fail_index(machine, index, axis, *tensor, site->span); });
  }
  static int negative_extent(Runner* runner, const Site* site, std::int64_t extent) {
    return failing(runner, [&](Machine& machine) { fail_extent(machine, extent, site->span); });
  }
  static int too_many_steps(Runner* runner, const Site* site, std::uint64_t count,
                            const std::int64_t* extents) {
    return failing(runner, [&](Machine& machine) {
      fail_steps(machine, {extents, static_cast<std::size_t>(count)}, site->span);
    });
  }
  static int nothing_to_fold(Runner* runner, const Site* site, lang::ReduceOp op) {
    return failing(runner, [&](Machine& machine) { fail_empty_fold(machine, op, site->span); });
  }
  static int at_limit(Runner* runner) {
    return failing(runner, [](Machine& machine) { machine.fail_at_limit(); });
  }
  static int wrong_shape(Runner* runner, const Site* site, const lang::TypeNode* type,
                         const lang::Tensor* tensor) {
    return failing(runner, [&](Machine& machine) {
      fail_shape(machine, *tensor, lang::Type(type), site->span);
    });
  }
  static int no_match(Runner* runner, const Site* site, const lang::TypeNode* type,
                      const Value* leaves) {
    return failing(runner, [&](Machine& machine) {
      fail_match(machine, gather(lang::Type(type), leaves), site->span);
    });
  }
  static void leave(Runner* runner, const Site* site) {
    (void)failing(runner, [&](Machine& machine) { machine.trail.add(site->span); });
  }
  static void leave_tail(Runner* runner, const Site* first, const Site* last, std::int64_t count) {
    (void)failing(runner, [&](Machine& machine) {
      machine.trail.add(last->span);
      if (count > 2) machine.trail.add_tail_calls(count - 2);
      if (count > 1) machine.trail.add(first->span);
    });
  }

  // A call from native code.
  template <class Call>
  static int call(Runner* runner, const Site* site, Value* args, std::uint64_t count, Value* result,
                  Call call) {
    const int status = guarded(runner, 1, [&](Machine& machine) {
      Value value = call(machine);
      if (value.is_empty()) {
        machine.trail.add(site->span);
        return 1;
      }
      new (result) Value(std::move(value));
      return 0;
    });
    for (std::uint64_t i = 0; i < count; ++i) args[i] = Value();
    return status;
  }
  static int interpret(Runner* runner, const flow::Interpreted* interpreted, const Site* site,
                       Value* args, std::uint64_t count, Value* result) {
    // It is part of the function: no call to tell of.
    const int status = guarded(runner, 1, [&](Machine& machine) {
      const FunctionCodeRef code(
          const_cast<FunctionCode*>(static_cast<const FunctionCode*>(interpreted->code.get())));
      Value value = machine.invoke(code, nullptr, args, count);
      if (value.is_empty()) return 1;
      new (result) Value(std::move(value));
      return 0;
    });
    (void)site;
    for (std::uint64_t i = 0; i < count; ++i) args[i] = Value();
    return status;
  }
  static int call_value(Runner* runner, const lang::Counted* closure, const Site* site, Value* args,
                        std::uint64_t count, Value* result) {
    return call(runner, site, args, count, result, [&](Machine& machine) {
      const lang::Ref<const Closure> held(static_cast<const Closure*>(closure));
      return machine.invoke(held->code, held, args, count);
    });
  }

  // Counted once, for native code.
  template <class T>
  static T* handed_over(lang::Ref<T> object) {
    return object.detach();
  }
  static void* allocate_cell(Runner* runner, std::uint64_t bytes) {
    return guarded<void*>(runner, nullptr,
                          [&](Machine&) { return lang::allocate_cell_slowly(bytes); });
  }
  static void release_cell(void* cell, std::uint64_t bytes) {
    lang::release_cell_slowly(cell, bytes);
  }
  static lang::Tensor* make_tensor(Runner* runner, const Site*, lang::DType dtype,
                                   std::uint64_t rank, const std::int64_t* extents) {
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine&) {
      return handed_over(
          lang::Tensor::make(dtype, std::span(extents, static_cast<std::size_t>(rank))));
    });
  }
  static lang::Tensor* view(Runner* runner, const Site* site, const lang::Tensor* tensor,
                            std::uint64_t count, const std::int64_t* indices) {
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine& machine) {
      return handed_over(
          view_of(machine, *tensor, {indices, static_cast<std::size_t>(count)}, site->span));
    });
  }
  static lang::Tensor* own_tensor(Runner* runner, lang::Tensor* moved) {
    const lang::TensorRef held(moved);
    moved->release();
    return guarded<lang::Tensor*>(runner, nullptr, [&](Machine&) {
      const lang::TensorRef dense = lang::contiguous(held);
      if (dense != held) return handed_over(dense);
      const lang::TensorRef copy = lang::Tensor::make(held->dtype(), held->shape());
      const auto count = static_cast<std::size_t>(held->element_count());
      if (count > 0) std::memcpy(copy->data(), held->data(), count * lang::size_of(held->dtype()));
      return handed_over(copy);
    });
  }
  static const lang::Counted* closure_of(Runner* runner, const Value* value) {
    return &machine(runner).native.closure_of(&value->as_constructor()).as_closure();
  }
  static void release(const lang::Counted* object) { object->release(); }
  static void reclaim(lang::Counted* cell, std::uint64_t kind) {
    lang::reclaim_cell(cell, static_cast<lang::ValueKind>(kind));
  }

 private:
  static Value gather(const lang::Type& type, const Value*& leaves) {
    const auto* tuple = lang::as<lang::TupleType>(type);
    if (const std::size_t count = flow::small_elements(type)) {
      std::vector<std::int64_t> shape;
      for (const lang::Dim& dim : lang::as<lang::TensorType>(type)->shape.dims())
        shape.push_back(dim.constant());
      const lang::TensorRef tensor = lang::Tensor::make(leaves->dtype(), shape);
      for (std::size_t i = 0; i < count; ++i)
        tensor->set_bits(static_cast<std::int64_t>(i), (leaves++)->bits());
      return Value::tensor(tensor);
    }
    if (!tuple) return *leaves++;
    auto cell = lang::TupleCell::make(tuple->fields.size());
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      cell->fields()[i] = gather(tuple->fields[i], leaves);
    return Value::tuple(std::move(cell));
  }
};

const flow::Services& native_services() {
  static const flow::Services services = {
      .divided_by_zero = &NativeServices::divided_by_zero,
      .out_of_range = &NativeServices::out_of_range,
      .negative_extent = &NativeServices::negative_extent,
      .too_many_steps = &NativeServices::too_many_steps,
      .nothing_to_fold = &NativeServices::nothing_to_fold,
      .at_limit = &NativeServices::at_limit,
      .wrong_shape = &NativeServices::wrong_shape,
      .no_match = &NativeServices::no_match,
      .leave = &NativeServices::leave,
      .leave_tail = &NativeServices::leave_tail,
      .interpret = &NativeServices::interpret,
      .call_value = &NativeServices::call_value,
      .allocate_cell = &NativeServices::allocate_cell,
      .release_cell = &NativeServices::release_cell,
      .make_tensor = &NativeServices::make_tensor,
      .view = &NativeServices::view,
      .own_tensor = &NativeServices::own_tensor,
      .closure_of = &NativeServices::closure_of,
      .release = &NativeServices::release,
      .reclaim = &NativeServices::reclaim,
      .frame_limit = &lang::frame_limit,
  };
  return services;
}

// --- The tier ---

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
  flow::decide_base_cases(functions);
  flow::settle_ownership(functions);
}

}  // namespace

namespace {

bool is_kernel(const lang::Expr& expr) {
  const auto* call = lang::as<lang::Call>(expr);
  const auto* group = call ? lang::as<lang::Function>(call->callee) : nullptr;
  if (group) return group->attrs && group->attrs->find("Primitive");
  return lang::is_lowerable(expr);
}

bool has_only_kernels(const flow::Function& function) {
  return std::all_of(
      function.interpreted.begin(), function.interpreted.end(),
      [](const auto& each) { return is_kernel(lang::cast<lang::Function>(each->function).body); });
}

void check_form(const FunctionCode& code) {
  const auto refuse = [&](const std::string& what) {
    lang::fail(DiagnosticKind::Unsupported, "not supported: " + what,
               code.source ? code.source->span : lang::Span());
  };
  if (!code.source) refuse("a constructor as a function");
  if (code.self)
    refuse(fmt::format("a closure that calls itself by its own name, `{}`", code.self->name));
  if (!code.captured.empty())
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
  const auto result = lang::capture([&] {
    check_form(code);
    flow::declare(native.flow, code.name, code.source);
    flow::lower(native.flow, *this);
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
  return lower(*code) ? &code->native->flow : nullptr;
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

Value NativeTier::run(const FunctionCode& code, Value* args) {
  Profile* const profile = Profile::running();
  const Profile::Scope scope(
      profile, profile && code.source ? profile->place_of(code.source->span) : Profile::kNowhere);
  const lang::Ref<NativeCode> held = code.native;
  Value result;
  machine_.cells = lang::cell_lists.data();
  const int status = held->entry(&machine_, args, &result);
  if (status == 0) return result;
  if (escaped_) std::rethrow_exception(std::exchange(escaped_, nullptr));
  return {};
}

}  // namespace relay::interp
