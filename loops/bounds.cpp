#include "loops/bounds.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "lang/extents.h"
#include "loops/reduce_op.h"

namespace relay::loops {

namespace {

using lang::checked_add;
using lang::checked_mul;
using lang::checked_sub;

// Both ends included; none: nothing is known.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
using Bounds = std::optional<Interval>;

Bounds sum(const Bounds& a, const Bounds& b) {
  if (!a || !b) return std::nullopt;
  const auto low = checked_add(a->low, b->low);
  const auto high = checked_add(a->high, b->high);
  if (!low || !high) return std::nullopt;
  return Interval{*low, *high};
}

Bounds negated(const Bounds& a) {
  if (!a) return std::nullopt;
  const auto low = checked_sub(0, a->high);
  const auto high = checked_sub(0, a->low);
  if (!low || !high) return std::nullopt;
  return Interval{*low, *high};
}

Bounds product(const Bounds& a, const Bounds& b) {
  if (!a || !b) return std::nullopt;
  Bounds result;
  for (const std::int64_t x : {a->low, a->high}) {
    for (const std::int64_t y : {b->low, b->high}) {
      const auto corner = checked_mul(x, y);
      if (!corner) return std::nullopt;
      result = result ? Interval{std::min(result->low, *corner), std::max(result->high, *corner)}
                      : Interval{*corner, *corner};
    }
  }
  return result;
}

// By a positive number.
Bounds quotient(const Bounds& a, const Bounds& b, bool is_floor) {
  if (!a || !b || b->low != b->high || b->low < 1) return std::nullopt;
  const auto divide = [&](std::int64_t x) {
    return x / b->low - (is_floor && x < 0 && x % b->low != 0 ? 1 : 0);
  };
  return Interval{divide(a->low), divide(a->high)};
}

Bounds remainder(const Bounds& a, const Bounds& b, bool is_floor) {
  if (!b || b->low < 1) return std::nullopt;
  if (is_floor || (a && a->low >= 0)) return Interval{0, b->high - 1};
  return Interval{1 - b->high, b->high - 1};
}

Bounds join(const Bounds& a, const Bounds& b) {
  if (!a || !b) return std::nullopt;
  return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
}

// What an integer of fewer than 64 bits can be.
Bounds of_dtype(DType dtype) {
  const int bits = lang::bits_of(dtype);
  if (dtype == DType::Bool) return Interval{0, 1};
  if (lang::is_float(dtype) || bits > 32) return std::nullopt;
  if (lang::is_unsigned_int(dtype)) return Interval{0, (std::int64_t{1} << bits) - 1};
  return Interval{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

// The elements of a buffer that a group may touch, from the first element's place on; none: it has
// no element.
Bounds reach_of(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return std::nullopt;
  Bounds reach = Interval{0, 0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    reach = sum(reach, product(Interval{0, shape[i] - 1}, Interval{strides[i], strides[i]}));
    RELAY_CHECK(reach.has_value(), "a tensor's extents and strides are those of memory");
  }
  return reach;
}

class KernelBounds {
 public:
  KernelBounds(const Launch& launch, std::span<const Bounds> buffers)
      : launch_(launch),
        kernel_(launch.kernel),
        buffers_(buffers),
        values_(static_cast<std::size_t>(kernel_.value_count)),
        is_loop_(values_.size(), false) {}

  void run() {
    for (std::int32_t axis = 0; axis < kernel_.domain_rank; ++axis) {
      if (extent_of(axis) <= 0) return;  // no point
    }
    region(0);
    touch(kernel_.output, kernel_.destination);
    for (const FurtherStore& store : kernel_.further) touch(store.output, store.destination);
  }

 private:
  std::int64_t number(const Size& size) const {
    return size.is_literal ? size.value : launch_.sizes[static_cast<std::size_t>(size.value)];
  }
  std::int64_t extent_of(std::int32_t axis) const {
    return number(kernel_.extents[static_cast<std::size_t>(axis)]);
  }
  const Bounds& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

  void region(std::int32_t at) {
    for (const Instruction& instruction : kernel_.regions[static_cast<std::size_t>(at)].code) {
      const auto id = static_cast<std::size_t>(instruction.id);
      values_[id] = bounds_of(instruction);
      is_loop_[id] = instruction.code == Code::Axis || instruction.code == Code::Constant ||
                     instruction.code == Code::SizeValue;
    }
  }

  Bounds bounds_of(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Axis:
        return Interval{0, extent_of(instruction.axis) - 1};
      case Code::Constant: {
        if (lang::is_float(instruction.dtype)) return std::nullopt;
        const std::int64_t constant = lang::int_from_bits(instruction.dtype, instruction.bits);
        return Interval{constant, constant};
      }
      case Code::SizeValue: {
        const std::int64_t size = number(instruction.size);
        return Interval{size, size};
      }
      case Code::ScalarInput:
        touch(instruction.buffer, {});
        return of_dtype(instruction.dtype);
      case Code::Load:
        // A mask keeps it within its tensor, axis by axis.
        if (instruction.args.empty()) touch(instruction.buffer, instruction.address);
        return of_dtype(instruction.dtype);
      case Code::InRange:
        return of_dtype(DType::Bool);
      case Code::CheckIndex: {
        const Interval range{0, number(instruction.size) - 1};
        const Bounds& index = value(instruction.args[0]);
        if (!index) return range;
        return Interval{std::max(range.low, index->low), std::min(range.high, index->high)};
      }
      case Code::Primitive:
        return primitive(instruction);
      case Code::Reduce:
        return reduce(instruction);
    }
    return std::nullopt;
  }

  Bounds primitive(const Instruction& instruction) const {
    const auto arg = [&](std::size_t i) -> const Bounds& { return value(instruction.args[i]); };
    if (instruction.prim == Prim::Cast && instruction.dtype == DType::Int64) return arg(0);
    if (instruction.dtype != DType::Int64) return of_dtype(instruction.dtype);
    switch (instruction.prim) {
      case Prim::Add:
        return sum(arg(0), arg(1));
      case Prim::Sub:
        return sum(arg(0), negated(arg(1)));
      case Prim::Mul:
        return product(arg(0), arg(1));
      case Prim::Neg:
        return negated(arg(0));
      case Prim::Min:
        if (!arg(0) || !arg(1)) return std::nullopt;
        return Interval{std::min(arg(0)->low, arg(1)->low), std::min(arg(0)->high, arg(1)->high)};
      case Prim::Max:
        if (!arg(0) || !arg(1)) return std::nullopt;
        return Interval{std::max(arg(0)->low, arg(1)->low), std::max(arg(0)->high, arg(1)->high)};
      case Prim::Div:
      case Prim::FloorDiv:
        return quotient(arg(0), arg(1), instruction.prim == Prim::FloorDiv);
      case Prim::Mod:
      case Prim::FloorMod:
        return remainder(arg(0), arg(1), instruction.prim == Prim::FloorMod);
      case Prim::Select:
        return join(arg(1), arg(2));
      default:
        return std::nullopt;
    }
  }

  Bounds reduce(const Instruction& instruction) {
    const Region& inner = kernel_.regions[static_cast<std::size_t>(instruction.region)];
    Bounds points = Interval{1, 1};
    for (const std::int32_t axis : inner.axes) {
      if (extent_of(axis) <= 0) return std::nullopt;  // nothing is read
      points = product(points, Interval{extent_of(axis), extent_of(axis)});
    }
    region(instruction.region);
    if (!is_arg(inner.op) || !points) return std::nullopt;
    return Interval{0, points->high - 1};
  }

  // One access of `address`.
  void touch(std::int32_t buffer, const Address& address) {
    const std::int64_t offset = number(address.offset);
    Bounds reach = Interval{offset, offset};
    bool is_affine = true;
    for (const AddressTerm& term : address.terms) {
      const std::int64_t stride = number(term.stride);
      reach = sum(reach, product(value(term.index), Interval{stride, stride}));
      is_affine &= is_loop_[static_cast<std::size_t>(term.index)];
    }
    const Bounds& held =
        buffers_[static_cast<std::size_t>(launch_.buffers[static_cast<std::size_t>(buffer)])];
    const bool is_inside = reach && held && held->low <= reach->low && reach->high <= held->high;
    // A check that runs with the kernel may stand before an access that it forbids.
    if (is_inside || !is_affine || !kernel_.sites.empty()) return;
    RELAY_CHECK(false, fmt::format("b{} is touched from {} to {}, and has {}, in\n{}", buffer,
                                   reach ? reach->low : 0, reach ? reach->high : 0,
                                   held ? fmt::format("{} to {}", held->low, held->high)
                                        : std::string("no element"),
                                   to_string(kernel_)));
  }

  const Launch& launch_;
  const Kernel& kernel_;
  std::span<const Bounds> buffers_;
  std::vector<Bounds> values_;
  std::vector<bool> is_loop_;  // is the value one of a loop, which takes both ends?
};

// --- Library kernels ---

// extent and stride of each loop over a tensor
using LoopWalk = std::vector<std::pair<std::int64_t, std::int64_t>>;

void verify_walk(const LoopWalk& walk, std::int64_t offset, const Bounds& held, const char* what) {
  Bounds reach = Interval{offset, offset};
  for (const auto& [extent, stride] : walk) {
    if (extent <= 0) return;
    reach = sum(reach, product(Interval{0, extent - 1}, Interval{stride, stride}));
  }
  RELAY_CHECK(reach && held && held->low <= reach->low && reach->high <= held->high,
              fmt::format("a library touches elements outside of its {} operand", what));
}

void verify(const Contraction& form, const Launch::Library& step, const Bounds& left,
            const Bounds& right, const Bounds& result) {
  LoopWalk a;
  LoopWalk b;
  LoopWalk c;
  for (const auto* axes : {&form.batch, &form.rows, &form.columns, &form.contracted}) {
    for (const ContractionAxis& axis : *axes) {
      a.emplace_back(axis.extent, axis.a);
      b.emplace_back(axis.extent, axis.b);
      c.emplace_back(axis.extent, axis.c);
    }
  }
  verify_walk(a, step.left_offset, left, "left");
  verify_walk(b, step.right_offset, right, "right");
  verify_walk(c, 0, result, "result");
}

void verify(const Window& form, const Launch::Library& step, const Bounds& left,
            const Bounds& right, const Bounds& result) {
  LoopWalk in = {{form.batch, form.in.batch},
                 {form.groups, form.in.group},
                 {form.in_channels, form.in.channel}};
  LoopWalk out = {{form.batch, form.out.batch},
                  {form.groups, form.out.group},
                  {form.out_channels, form.out.channel}};
  LoopWalk kernel = {{form.groups, form.kernel.group},
                     {form.out_channels, form.kernel.out},
                     {form.in_channels, form.kernel.in}};
  for (const WindowAxis& axis : form.axes) {
    in.emplace_back(axis.in, axis.in_stride);
    out.emplace_back(axis.out, axis.out_stride);
    kernel.emplace_back(axis.kernel, axis.kernel_stride);
    // The zeros in front and behind are all that a place may meet outside of the input.
    const Bounds last =
        sum(sum(product(Interval{axis.out - 1, axis.out - 1}, Interval{axis.stride, axis.stride}),
                product(Interval{axis.kernel - 1, axis.kernel - 1},
                        Interval{axis.dilation, axis.dilation})),
            Interval{-axis.front, -axis.front});
    RELAY_CHECK(last && last->high < axis.in + axis.back,
                "a window of a library slides beyond its input and the zeros behind it");
  }
  switch (form.result) {
    case Window::Result::Out:
      verify_walk(in, step.left_offset, left, "left");
      verify_walk(kernel, step.right_offset, right, "right");
      verify_walk(out, 0, result, "result");
      return;
    case Window::Result::In:
      verify_walk(out, step.left_offset, left, "left");
      verify_walk(kernel, step.right_offset, right, "right");
      verify_walk(in, 0, result, "result");
      return;
    case Window::Result::Kernel:
      verify_walk(in, step.left_offset, left, "left");
      verify_walk(out, step.right_offset, right, "right");
      verify_walk(kernel, 0, result, "result");
      return;
  }
}

}  // namespace

void verify_bounds(const LoweredGroup& group, std::span<const Layout> args) {
  std::vector<Bounds> buffers;
  for (const Layout& arg : args) buffers.push_back(reach_of(arg.shape, arg.strides));
  for (const auto& literal : group.literals)
    buffers.push_back(reach_of(literal->shape(), literal->strides()));
  for (const MadeTensor& made : group.made) {
    const auto count = lang::product_of(made.shape);
    RELAY_CHECK(count.has_value(), "the elements of a made tensor can be counted");
    buffers.push_back(*count == 0 ? Bounds() : Bounds(Interval{0, *count - 1}));
  }
  const auto held = [&](std::int32_t buffer) -> const Bounds& {
    return buffers[static_cast<std::size_t>(buffer)];
  };
  for (const Launch& launch : group.launches) {
    if (launch.whole) {
      const auto count = checked_mul(launch.whole->rows, launch.whole->extent);
      for (const std::int32_t buffer : launch.buffers) {
        RELAY_CHECK(count && (*count == 0 || (held(buffer) && *count - 1 <= held(buffer)->high)),
                    "an operator of whole tensors stays within them");
      }
    } else if (launch.library) {
      std::visit(
          [&](const auto& form) {
            verify(form, *launch.library, held(launch.buffers[0]), held(launch.buffers[1]),
                   held(launch.buffers[2]));
          },
          launch.library->form);
    } else {
      KernelBounds(launch, buffers).run();
    }
  }
  for (const ResultLeaf& result : group.results) {
    const Bounds seen =
        sum(reach_of(result.shape, result.strides), Interval{result.offset, result.offset});
    if (!seen) continue;  // no element
    const Bounds& whole = held(result.buffer);
    RELAY_CHECK(whole && whole->low <= seen->low && seen->high <= whole->high,
                "a result seen in another buffer lies within it");
  }
}

}  // namespace relay::loops
