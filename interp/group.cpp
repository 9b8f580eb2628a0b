#include "interp/group.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "interp/launch.h"
#include "interp/leaves.h"
#include "interp/plan.h"
#include "interp/profile.h"
#include "interp/quick_launch.h"
#include "lang/lowerable.h"
#include "lang/print.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "loops/stages.h"

namespace relay::interp {

using lang::Expr;
using lang::Type;
using lang::Value;

namespace {

// Native code pays once a group has cost this many scalar operations on lanes ...
constexpr std::int64_t kHotGroup = 4'000'000;
// ... and the whole program as many (loading LLVM takes tens of milliseconds of another core).
constexpr std::int64_t kHotProgram = 20'000'000;
constexpr std::size_t kMaxInstances = 64;

void append_bits(const Value& value, std::vector<std::uint64_t>& bits) {
  if (value.is_scalar()) {
    bits.push_back(value.bits());
    return;
  }
  const lang::TensorRef tensor = value.to_tensor();
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) bits.push_back(tensor->bits_at(i));
}

std::vector<loops::Layout> layouts_of(const std::vector<lang::TensorRef>& leaves) {
  std::vector<loops::Layout> layouts;
  layouts.reserve(leaves.size());
  for (const auto& leaf : leaves)
    layouts.push_back({leaf->dtype(), leaf->shape(), leaf->strides()});
  return layouts;
}

bool same_layout(const loops::Layout& layout, const lang::Tensor& tensor) {
  return layout.shape == tensor.shape() && layout.strides == tensor.strides() &&
         layout.dtype == tensor.dtype();
}

// For people: the code as it was written, or of code that nobody wrote its core.
std::string name_of_kernel(const Expr& function, lang::Span span) {
  const lang::Span& own = lang::cast<lang::Function>(function).body->span;
  if (!span && !own) return lang::print(function);
  return std::string((span ? span : own).text());
}

}  // namespace

struct Group::Instance {
  std::vector<loops::Layout> layouts;
  std::vector<std::uint64_t> shaping;  // bits of what stood in shaping parameters
  loops::LoweredGroup lowered;
  std::vector<loops::KernelFunction> native;  // per launch; null: lanes
  std::int64_t cost = 0;                      // of one run
  std::int64_t spent = 0;                     // on lanes so far
  bool native_tried = false;
  bool is_ready = false;  // there is all the native code that there will be
  // Of launches whose code is being made.
  std::vector<std::pair<std::size_t, std::shared_ptr<const KernelCode>>> waiting;
  std::unique_ptr<const QuickLaunch> quick;  // once there is native code
};

Group::Group(Expr function) : function_(std::move(function)) {
  const auto& fn = lang::cast<lang::Function>(function_);
  std::unordered_set<const lang::Variable*> shaping;
  for (const auto& variable : lang::shaping_variables(fn.body)) shaping.insert(variable.get());
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    if (shaping.count(fn.params[i].get())) shaping_params_.push_back(i);
  }
}

Group::~Group() = default;

bool Group::fits(const Instance& instance, std::span<const lang::TensorRef> leaves) const {
  if (instance.shaping != shaping_) return false;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!same_layout(instance.layouts[i], *leaves[i])) return false;
  }
  return true;
}

Group::Instance* Group::find(std::span<const lang::TensorRef> leaves) const {
  if (last_ && fits(*last_, leaves)) return last_;
  for (const auto& instance : instances_) {
    if (fits(*instance, leaves)) return instance.get();
  }
  return nullptr;
}

Group::Instance* Group::lower(Machine& machine, std::vector<loops::Layout> layouts,
                              const std::vector<Value>& values) {
  const Profile::Scope scope(Profile::kMakingCode);
  Expr function = function_;
  if (!values.empty()) {
    const auto& fn = lang::cast<lang::Function>(function_);
    lang::Substitution constants;
    for (std::size_t i = 0; i < values.size(); ++i)
      constants[fn.params[shaping_params_[i]].get()] = lang::make_constant(values[i].to_tensor());
    function = lang::make_function(fn.params, fn.result, lang::substitute(fn.body, constants),
                                   fn.type_params, fn.attrs, fn.span, fn.type);
  }
  auto lowered =
      loops::lower(lang::cast<lang::Function>(function), layouts, machine.host.kernel_library())
          .or_throw();
  auto instance = std::make_unique<Instance>();
  instance->layouts = std::move(layouts);
  instance->shaping = shaping_;
  instance->lowered = std::move(lowered);
  instance->native.resize(instance->lowered.launches.size(), nullptr);
  for (const auto& launch : instance->lowered.launches) {
    if (!launch.library) instance->cost += launch.cost;
  }
  if (instances_.size() >= kMaxInstances) instances_.erase(instances_.begin());
  instances_.push_back(std::move(instance));
  return instances_.back().get();
}

namespace {

void append_layouts(const Type& type, const ExtentOf& extent_of,
                    std::vector<loops::Layout>& layouts) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const Type& field : tuple->fields) append_layouts(field, extent_of, layouts);
    return;
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor && tensor->shape.has_rank(), "an argument of a kernel is no tensor");
  std::vector<std::int64_t> shape;
  for (const lang::Dim& dim : tensor->shape.dims()) shape.push_back(extent_at(dim, extent_of));
  std::vector<std::int64_t> strides = loops::row_major(shape);
  layouts.push_back({tensor->dtype.known(), std::move(shape), std::move(strides)});
}

// Could what is made of them have more elements than can be counted?
bool are_too_large(const std::vector<loops::Layout>& layouts) {
  double elements = 1;
  for (const loops::Layout& layout : layouts) {
    for (const std::int64_t extent : layout.shape) elements *= static_cast<double>(extent);
  }
  return elements > 1e18;
}

// Of a parameter whose values decide extents.
Value value_of_extents(const loops::Layout& layout, std::uint64_t bits) {
  const lang::TensorRef tensor = lang::Tensor::make(layout.dtype, layout.shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) tensor->set_bits(i, bits);
  return Value::tensor(tensor);
}

}  // namespace

void Group::make_kernels(Machine& machine, const std::vector<Expr>& args, KnownExtents& known,
                         const ExtentOf& extent_of) {
  const auto& fn = lang::cast<lang::Function>(function_);
  std::vector<loops::Layout> layouts;
  std::vector<Value> values;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const std::size_t first = layouts.size();
    append_layouts(fn.params[i]->type, extent_of, layouts);
    if (std::find(shaping_params_.begin(), shaping_params_.end(), i) == shaping_params_.end())
      continue;
    const loops::Layout& layout = layouts[first];
    const auto bits = known.bits_of(args[i]);
    values.push_back(
        value_of_extents(layout, bits ? *bits : lang::bits_from_int(layout.dtype, extent_of("?"))));
  }
  if (are_too_large(layouts)) return;
  shaping_.clear();
  for (const Value& value : values) append_bits(value, shaping_);
  consider_native(machine, *lower(machine, std::move(layouts), values));
}

void Group::consider_native(Machine& machine, Instance& instance) {
  if (machine.mode == JitMode::Off) return;
  Compiling& compiling = machine.host.compiling();
  if (!instance.native_tried) {
    if (machine.mode == JitMode::Auto && instance.cost > 0) {  // 0: all is a library's
      if (instance.spent + instance.cost < kHotGroup) return;
      if (machine.total_cost + instance.cost < kHotProgram) return;
    }
    instance.native_tried = true;
    for (std::size_t i = 0; i < instance.native.size(); ++i) {
      const loops::Launch& step = instance.lowered.launches[i];
      if (!step.whole && !step.library)
        instance.waiting.emplace_back(i, compiling.code_of(step.kernel));
    }
  }
  if (instance.is_ready) return;
  if (machine.mode == JitMode::Always) {
    const Profile::Scope scope(Profile::kMakingCode);
    for (const auto& [launch, code] : instance.waiting) compiling.wait(code->ticket, lang::poll);
  }
  std::erase_if(instance.waiting, [&](const auto& each) {
    const auto& [launch, code] = each;
    if (!compiling.is_done(code->ticket)) return false;
    instance.native[launch] = code->function;
    if (code->function) ++machine.statistics.kernels_compiled;
    return true;
  });
  if (instance.waiting.empty()) {
    instance.is_ready = true;
    instance.quick = QuickLaunch::of(instance.lowered, instance.layouts, instance.native,
                                     lang::cast<lang::Function>(function_).body->type);
  }
}

// Empty where it cannot be done, or a kernel fails: then all is as it was.
Value Group::run_quickly(Machine& machine, std::span<Value> args) {
  if (!last_ || !last_->quick || Plan::running() || !last_->quick->fits(args) ||
      lang::is_stopping())
    return {};
  for (std::size_t i = 0; i < shaping_params_.size(); ++i) {
    const Value& value = args[shaping_params_[i]];
    if (!value.is_scalar() || value.bits() != last_->shaping[i]) return {};
  }
  Value result = last_->quick->run(args);
  if (result.is_empty()) return {};
  machine.statistics.kernels_run_native += static_cast<std::int64_t>(last_->quick->kernels());
  machine.statistics.kernels_run_library += static_cast<std::int64_t>(last_->quick->libraries());
  for (Value& arg : args) arg = Value();
  return result;
}

Value Group::run(Machine& machine, Value* args, std::size_t count, lang::Span span) {
  if (Value result = run_quickly(machine, {args, count}); !result.is_empty()) return result;
  std::vector<lang::TensorRef> leaves = std::move(machine.spare_leaves);
  for (std::size_t i = 0; i < count; ++i) append_leaves(args[i], leaves);
  shaping_.clear();
  for (std::size_t i : shaping_params_) append_bits(args[i], shaping_);
  Instance* instance = find(leaves);
  std::vector<Value> values;
  if (!instance) {
    for (std::size_t i : shaping_params_) values.push_back(args[i]);
  }
  for (std::size_t i = 0; i < count; ++i) args[i] = Value();
  if (!instance) {
    auto made = lang::capture([&] { return lower(machine, layouts_of(leaves), values); });
    if (!made) {
      lang::Diagnostic first = made.errors().front();
      if (!first.span) first.span = span;
      return machine.fail(std::move(first));
    }
    instance = *made;
  }
  last_ = instance;
  consider_native(machine, *instance);

  // Asked for each kernel that runs: a copy into memory that holds it already does not.
  const auto note_lanes = [&](std::size_t launch) {
    ++machine.statistics.kernels_run_lanes;
    instance->spent += instance->lowered.launches[launch].cost;
    machine.total_cost += instance->lowered.launches[launch].cost;
  };
  const auto native = [&](std::size_t launch) {
    const loops::KernelFunction function = instance->native[launch];
    if (function) {
      ++machine.statistics.kernels_run_native;
    } else {
      note_lanes(launch);
      if (machine.mode == JitMode::Always)
        machine.statistics.kernels_fallen_back.insert(name_of_kernel(function_, span));
    }
    return function;
  };
  // Functions by reference take no memory.
  const auto describe = [&] {
    return part_of(instance->lowered, leaves, name_of_kernel(function_, span));
  };
  const Plan::Scope scope(instance, std::cref(describe));
  auto results = launch(instance->lowered, std::move(leaves), std::cref(native), machine.threads);
  if (!results) {
    lang::Diagnostic first = results.errors().front();
    if (!first.span) first.span = span;
    return machine.fail(std::move(first));
  }
  for (std::size_t i = 0; i < instance->native.size(); ++i) {
    const loops::Launch& launched = instance->lowered.launches[i];
    if (launched.library) ++machine.statistics.kernels_run_library;
    if (!launched.whole) continue;
    if (launched.whole->primitive == lang::TensorPrimitive::Copy) {
      ++machine.statistics.tensors_copied;
    } else {
      note_lanes(i);
    }
  }
  std::size_t next = 0;
  Value value = value_of_leaves(lang::cast<lang::Function>(function_).body->type, *results, next);
  results->clear();
  machine.spare_leaves = std::move(*results);
  return value;
}

bool GroupCode::eval_call(Machine& machine, const FunctionCode& function, Value* args,
                          Value& result) const {
  constexpr std::size_t kInline = 16;
  const bool is_simple = std::all_of(args_.begin(), args_.end(), [](const Operand& operand) {
    return operand.from == From::LastUse || operand.from == From::Slot ||
           operand.from == From::Constant;
  });
  if (args_.size() > kInline || !is_simple) return false;
  Value moved[kInline];
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const auto [from, index] = args_[i];
    if (from == From::LastUse) {
      moved[i] = std::move(args[index]);
    } else {
      moved[i] = from == From::Slot ? args[index] : function.constants[index];
    }
  }
  result = group_->run(machine, moved, args_.size(), span);
  return true;
}

Value GroupCode::eval(Frame& frame) const {
  constexpr std::size_t kInline = 8;
  if (args_.size() <= kInline) {
    Value args[kInline];
    for (std::size_t i = 0; i < args_.size(); ++i) args[i] = fetch(args_[i], frame);
    return group_->run(frame.machine, args, args_.size(), span);
  }
  std::vector<Value> args;
  args.reserve(args_.size());
  for (const Operand& operand : args_) args.push_back(fetch(operand, frame));
  return group_->run(frame.machine, args.data(), args.size(), span);
}

}  // namespace relay::interp
