#include "interp/quick_launch.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "interp/launch.h"
#include "lang/stop.h"
#include "loops/stages.h"
#include "loops/windows.h"

namespace relay::interp {

using lang::TensorRef;
using lang::Value;

namespace {

constexpr std::size_t kMostLaunches = 8;
constexpr std::size_t kMostMade = 8;
constexpr std::size_t kMostBuffers = 24;
constexpr std::int64_t kMostCost = 100'000;  // where a second thread may be worth while

bool is_made(const loops::ResultLeaf& leaf, const loops::LoweredGroup& group,
             std::size_t first_made) {
  const auto buffer = static_cast<std::size_t>(leaf.buffer);
  return buffer >= first_made && loops::is_whole(leaf, group.made[buffer - first_made]);
}

}  // namespace

std::unique_ptr<const QuickLaunch> QuickLaunch::of(const loops::LoweredGroup& group,
                                                   std::span<const loops::Layout> args,
                                                   std::span<const loops::KernelFunction> native,
                                                   const lang::Type& result) {
  const std::size_t first_made = args.size() + group.literals.size();
  const auto* tuple = lang::as<lang::TupleType>(result);
  const bool is_flat = tuple ? tuple->fields.size() == group.results.size() : true;
  if (group.launches.empty() || group.launches.size() > kMostLaunches ||
      group.made.size() > kMostMade || first_made + group.made.size() > kMostBuffers || !is_flat ||
      loops::has_windows(group))
    return nullptr;
  for (std::size_t i = 0; i < group.launches.size(); ++i) {
    const loops::Launch& launch = group.launches[i];
    if (launch.whole || launch.cost >= kMostCost || !(launch.library || native[i])) return nullptr;
    // What has failed is run once more, by interp/launch, which tells why.
    if (!group.reuse.empty() && (loops::may_fail(launch.kernel) || launch.kernel.polls))
      return nullptr;
  }
  for (const loops::Reuse& reuse : group.reuse) {
    if (args[reuse.arg].shape != group.made[reuse.made].shape) return nullptr;
  }
  for (const loops::ResultLeaf& leaf : group.results) {
    if (!is_made(leaf, group, first_made)) return nullptr;
  }
  return std::unique_ptr<const QuickLaunch>(new QuickLaunch(group, args, native, result));
}

QuickLaunch::QuickLaunch(const loops::LoweredGroup& group, std::span<const loops::Layout> args,
                         std::span<const loops::KernelFunction> native, const lang::Type& result)
    : group_(group), args_(args), native_(native), result_(result) {
  for (const loops::Launch& launch : group.launches) {
    const loops::Size extent =
        launch.kernel.domain_rank == 0 ? loops::Size::literal(1) : launch.kernel.extents[0];
    outer_.push_back(extent.is_literal ? extent.value
                                       : launch.sizes[static_cast<std::size_t>(extent.value)]);
    libraries_ += launch.library ? 1 : 0;
  }
}

bool QuickLaunch::fits(std::span<const Value> args) const {
  if (args.size() != args_.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const loops::Layout& layout = args_[i];
    if (args[i].is_scalar()) {
      if (layout.dtype != args[i].dtype() || !layout.shape.empty()) return false;
      continue;
    }
    if (!args[i].is_tensor()) return false;
    const lang::Tensor& tensor = args[i].as_tensor();
    if (layout.dtype != tensor.dtype() || layout.shape != tensor.shape() ||
        layout.strides != tensor.strides())
      return false;
  }
  return true;
}

// The memory of one run.
struct QuickLaunch::Run {
  std::array<void*, kMostBuffers> buffers{};
  std::array<std::uint64_t, kMostBuffers> scalars{};
  std::array<std::uint64_t, kMostBuffers> content{};  // of its elements, for libraries
  std::array<TensorRef, kMostMade> made;
  std::array<bool, kMostLaunches> is_done{};

  void take(const loops::LoweredGroup& group, std::size_t number, std::size_t buffer,
            std::span<Value> args) {
    const loops::MadeTensor& tensor = group.made[number];
    if (tensor.shape.empty()) {
      buffers[buffer] = &scalars[buffer];
      return;
    }
    for (const loops::Reuse& reuse : group.reuse) {
      const Value& arg = args[reuse.arg];
      if (reuse.made != number || !arg.is_tensor() || !is_free(arg.as_tensor())) continue;
      if (reuse.copy) is_done[*reuse.copy] = true;
      made[number] = TensorRef(&arg.as_tensor());
      made[number]->forget_content();
      buffers[buffer] = made[number]->data();
      return;
    }
    made[number] = lang::Tensor::make(tensor.dtype, tensor.shape);
    buffers[buffer] = made[number]->data();
  }

  void multiply(const loops::Launch& launch) const {
    const loops::Launch::Library& step = *launch.library;
    const auto operand = [&](std::size_t place, std::int64_t offset) {
      const auto buffer = static_cast<std::size_t>(launch.buffers[place]);
      const auto bytes =
          offset * static_cast<std::int64_t>(lang::size_of(loops::dtype_of(step.form)));
      return loops::LibraryOperand{static_cast<std::byte*>(buffers[buffer]) + bytes,
                                   content[buffer]};
    };
    // It is over before another thread would have begun.
    static const loops::LibraryKernel::Parallel one_by_one =
        [](int parts, const std::function<void(int)>& part) {
          for (int i = 0; i < parts; ++i) part(i);
        };
    step.kernel->run(operand(0, step.left_offset), operand(1, step.right_offset),
                     buffers[static_cast<std::size_t>(launch.buffers[2])], one_by_one);
  }
};

Value QuickLaunch::run(std::span<Value> args) const {
  Run run;
  std::size_t next = 0;
  for (const Value& arg : args) {
    run.scalars[next] = arg.is_scalar() ? arg.bits() : 0;
    if (arg.is_scalar()) {
      run.buffers[next] = &run.scalars[next];
    } else {
      run.buffers[next] = arg.as_tensor().data();
      if (libraries_ > 0) run.content[next] = arg.as_tensor().content();
    }
    ++next;
  }
  for (const TensorRef& literal : group_.literals) {
    run.content[next] = literal->content();
    run.buffers[next++] = literal->data();
  }
  const std::size_t first_made = next;
  for (std::size_t i = 0; i < group_.made.size(); ++i) run.take(group_, i, next++, args);
  for (std::size_t i = 0; i < group_.launches.size(); ++i) {
    if (run.is_done[i]) continue;
    const loops::Launch& launch = group_.launches[i];
    if (launch.library) {
      run.multiply(launch);
      continue;
    }
    std::array<void*, kMostBuffers> pointers;  // NOLINT: only what is used is set
    for (std::size_t k = 0; k < launch.buffers.size(); ++k)
      pointers[k] = run.buffers[static_cast<std::size_t>(launch.buffers[k])];
    loops::KernelError error;
    if (native_[i](pointers.data(), launch.sizes.data(), 0, outer_[i], &error) != 0) return {};
  }
  const auto value_of = [&](const loops::ResultLeaf& leaf) {
    const auto buffer = static_cast<std::size_t>(leaf.buffer);
    const loops::MadeTensor& tensor = group_.made[buffer - first_made];
    if (!tensor.shape.empty()) return Value::tensor(run.made[buffer - first_made]);
    const std::size_t size = lang::size_of(tensor.dtype);
    const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
    return Value::scalar(tensor.dtype, run.scalars[buffer] & mask);
  };
  if (!lang::as<lang::TupleType>(result_)) return value_of(group_.results[0]);
  auto cell = lang::TupleCell::make(group_.results.size());
  for (std::size_t i = 0; i < group_.results.size(); ++i)
    cell->fields()[i] = value_of(group_.results[i]);
  return Value::tuple(std::move(cell));
}

}  // namespace relay::interp
