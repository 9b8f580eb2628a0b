#include "interp/index_eval.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "interp/failures.h"
#include "interp/scalar.h"
#include "lang/extents.h"
#include "lang/stop.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::DType;
using lang::ReduceOp;
using lang::Value;

namespace {

// The extents, or false after an error.
bool evaluate_extents(const std::vector<BinderCode>& binders, Frame& frame,
                      std::vector<std::int64_t>& extents) {
  for (const auto& binder : binders) {
    const Value value = binder.extent->eval(frame);
    if (value.is_empty()) return false;
    const std::int64_t extent = lang::int_from_bits(value.dtype(), value.bits());
    if (extent < 0) {
      fail_extent(frame.machine, extent, binder.span);
      return false;
    }
    extents.push_back(extent);
  }
  return true;
}

// Calls `point(linear)` for every index tuple, row-major, with the binders' slots set. Stops when
// it returns false.
template <class F>
bool for_each_point(const std::vector<BinderCode>& binders,
                    const std::vector<std::int64_t>& extents, Frame& frame, F&& point) {
  const auto points = lang::product_of(extents);
  if (!points) {
    fail_steps(frame.machine, extents, binders.front().span);
    return false;
  }
  const std::int64_t total = *points;
  for (std::int64_t linear = 0; linear < total; ++linear) {
    std::int64_t rest = linear;
    for (std::size_t i = extents.size(); i-- > 0;) {
      frame.slots[binders[i].slot] =
          Value::scalar(DType::Int64, static_cast<std::uint64_t>(rest % extents[i]));
      rest /= extents[i];
    }
    if (lang::is_stopping()) {
      frame.machine.fail(lang::stop_diagnostic());
      return false;
    }
    if (!point(linear)) return false;
  }
  return true;
}

// Collects the elements of one leaf of the result.
struct Stack {
  lang::TensorRef tensor;
  std::int64_t element_bytes = 0;

  void start(const std::vector<std::int64_t>& extents, DType dtype,
             const std::vector<std::int64_t>& item) {
    std::vector<std::int64_t> shape = extents;
    shape.insert(shape.end(), item.begin(), item.end());
    tensor = lang::Tensor::make(dtype, shape);
    element_bytes = static_cast<std::int64_t>(lang::size_of(dtype));
    for (std::int64_t extent : item) element_bytes *= extent;
  }
};

std::vector<std::int64_t> shape_of(const Value& value) {
  return value.is_tensor() ? value.as_tensor().shape() : std::vector<std::int64_t>{};
}
DType dtype_of(const Value& value) {
  return value.is_tensor() ? value.as_tensor().dtype() : value.dtype();
}

bool store(Machine& machine, Stack& stack, const std::vector<std::int64_t>& extents,
           std::int64_t linear, const Value& value, lang::Span span) {
  const auto item = shape_of(value);
  if (!stack.tensor) stack.start(extents, dtype_of(value), item);
  const std::vector<std::int64_t> expected(
      stack.tensor->shape().begin() + static_cast<std::ptrdiff_t>(extents.size()),
      stack.tensor->shape().end());
  if (item != expected) {
    machine.fail(DiagnosticKind::ShapeMismatchAtRunTime,
                 fmt::format("the body yields shape `({})` here and `({})` before: its extents "
                             "must not depend on the index",
                             fmt::join(item, ", "), fmt::join(expected, ", ")),
                 span);
    return false;
  }
  const lang::TensorRef flat = contiguous(value.to_tensor());
  std::memcpy(stack.tensor->data() + linear * stack.element_bytes, flat->data(),
              static_cast<std::size_t>(stack.element_bytes));
  return true;
}

// The empty result of extents that hold a zero: the body never ran, so its type must say the shape
// of its value.
Value empty_result(Machine& machine, const lang::Type& type,
                   const std::vector<std::int64_t>& extents, lang::Span span) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    auto cell = lang::TupleCell::make(tuple->fields.size());
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      cell->fields()[i] = empty_result(machine, tuple->fields[i], extents, span);
      if (cell->fields()[i].is_empty()) return {};
    }
    return Value::tuple(std::move(cell));
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor, "a comprehension yields tensors");
  std::vector<std::int64_t> shape = extents;
  const auto& dims = tensor->shape.dims();
  for (std::size_t i = extents.size(); i < dims.size(); ++i)
    shape.push_back(dims[i].is_constant() ? dims[i].constant() : 0);
  return Value::tensor(lang::Tensor::make(tensor->dtype.known(), shape));
}

// Folds elements one by one, in the order of loops/loop_ir.h: what a kernel gives.
class ScalarFold {
 public:
  ScalarFold(ReduceOp op, DType dtype)
      : element_(dtype),
        dtype_(loops::has_blocks(op, dtype) && lang::size_of(dtype) < 4 ? DType::Float32 : dtype),
        has_blocks_(loops::has_blocks(op, dtype)),
        fold_(scalar_function(loops::prim_of(op), dtype_)),
        identity_(loops::identity_bits(op, dtype_)) {
    lanes_.fill(identity_);
  }

  void add(std::uint64_t element) {
    std::uint64_t& lane = lanes_[static_cast<std::size_t>(count_ % loops::kReductionLanes)];
    lane = fold(lane, dtype_ == element_ ? element : scalar_cast(element_, dtype_)(&element));
    ++count_;
    if (has_blocks_ && count_ % loops::kReductionBlock == 0) close_block();
  }

  std::uint64_t result() {
    std::uint64_t total = combined();
    if (has_blocks_) {
      loops::for_each_waiting(count_ / loops::kReductionBlock, [&](int level) {
        total = fold(waiting_[static_cast<std::size_t>(level)], total);
      });
    }
    return dtype_ == element_ ? total : scalar_cast(dtype_, element_)(&total);
  }

 private:
  std::uint64_t fold(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t operands[2] = {a, b};
    return fold_(operands);
  }

  std::uint64_t combined() {
    for (std::size_t width = lanes_.size() / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) lanes_[i] = fold(lanes_[i], lanes_[i + width]);
    }
    return lanes_[0];
  }

  void close_block() {
    std::uint64_t sum = combined();
    const int level = loops::waiting_level(count_ / loops::kReductionBlock - 1);
    for (int i = 0; i < level; ++i) sum = fold(waiting_[static_cast<std::size_t>(i)], sum);
    waiting_[static_cast<std::size_t>(level)] = sum;
    lanes_.fill(identity_);
  }

  DType element_;
  DType dtype_;  // that is folded in: halves in float32
  bool has_blocks_;
  ScalarFunction fold_;
  std::uint64_t identity_;
  std::array<std::uint64_t, loops::kReductionLanes> lanes_{};
  std::array<std::uint64_t, 64> waiting_{};
  std::int64_t count_ = 0;
};

}  // namespace

Value ComprehensionCode::eval(Frame& frame) const {
  std::vector<std::int64_t> extents;
  if (!evaluate_extents(binders_, frame, extents)) return {};
  const auto* tuple = lang::as<lang::TupleType>(type_);
  std::vector<Stack> stacks(tuple ? tuple->fields.size() : 1);
  const bool complete = for_each_point(binders_, extents, frame, [&](std::int64_t linear) {
    const Value value = body_->eval(frame);
    if (value.is_empty()) return false;
    if (!tuple) return store(frame.machine, stacks[0], extents, linear, value, span);
    const auto fields = value.as_tuple().fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!store(frame.machine, stacks[i], extents, linear, fields[i], span)) return false;
    }
    return true;
  });
  if (!complete) return {};
  if (!stacks.empty() && !stacks[0].tensor)
    return empty_result(frame.machine, type_, extents, span);
  if (!tuple) return Value::tensor(stacks[0].tensor);
  auto cell = lang::TupleCell::make(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i)
    cell->fields()[i] = Value::tensor(stacks[i].tensor);
  return Value::tuple(std::move(cell));
}

Value ReductionCode::eval(Frame& frame) const {
  std::vector<std::int64_t> extents;
  if (!evaluate_extents(binders_, frame, extents)) return {};
  const auto* type = lang::as<lang::TensorType>(type_);
  RELAY_CHECK(type && type->shape.rank() == 0, "a reduction yields a scalar");
  const bool has_identity = !loops::is_arg(op_) && op_ != ReduceOp::Max && op_ != ReduceOp::Min;
  if (!has_identity && std::find(extents.begin(), extents.end(), 0) != extents.end()) {
    return fail_empty_fold(frame.machine, op_, span);
  }
  if (loops::is_arg(op_)) return eval_arg(extents, frame);
  const DType dtype = type->dtype.known();
  ScalarFold fold(op_, dtype);
  const bool complete = for_each_point(binders_, extents, frame, [&](std::int64_t) {
    const Value value = body_->eval(frame);
    if (value.is_empty()) return false;
    fold.add(value.bits());
    return true;
  });
  return complete ? Value::scalar(dtype, fold.result()) : Value{};
}

Value ReductionCode::eval_arg(const std::vector<std::int64_t>& extents, Frame& frame) const {
  const lang::Prim order = op_ == ReduceOp::ArgMax ? lang::Prim::Gt : lang::Prim::Lt;
  Value best;
  std::int64_t best_at = 0;
  const bool complete = for_each_point(binders_, extents, frame, [&](std::int64_t linear) {
    Value value = body_->eval(frame);
    if (value.is_empty()) return false;
    const auto compare = [&](lang::Prim prim, const Value& a, const Value& b) {
      const std::uint64_t operands[2] = {a.bits(), b.bits()};
      return scalar_function(prim, value.dtype())(operands) != 0;
    };
    const auto is_nan = [&](const Value& each) { return compare(lang::Prim::Ne, each, each); };
    const bool wins =
        best.is_empty() || (!is_nan(best) && (is_nan(value) || compare(order, value, best)));
    if (wins) {
      best = std::move(value);
      best_at = linear;
    }
    return true;
  });
  if (!complete) return {};
  return Value::scalar(DType::Int64, static_cast<std::uint64_t>(best_at));
}

}  // namespace relay::interp
