#include "interp/index_eval.h"

#include <cstring>

#include <fmt/format.h>

#include "interp/scalar.h"

namespace relay::interp {

using lang::DiagnosticKind;
using lang::DType;
using lang::ReduceOp;
using lang::Value;
using lang::ValueKind;

namespace {

// The extents, or false after an error.
bool evaluate_extents(const std::vector<BinderCode>& binders, Frame& frame,
                      std::vector<std::int64_t>& extents) {
  for (const auto& binder : binders) {
    const Value value = binder.extent->eval(frame);
    if (value.is_empty()) return false;
    const std::int64_t extent = lang::int_from_bits(value.dtype(), value.bits());
    if (extent < 0) {
      frame.machine.fail(DiagnosticKind::ExtentMismatch,
                         fmt::format("an extent must not be negative, it is {}", extent),
                         binder.span);
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
  std::int64_t total = 1;
  for (std::int64_t extent : extents) total *= extent;
  for (std::int64_t linear = 0; linear < total; ++linear) {
    std::int64_t rest = linear;
    for (std::size_t i = extents.size(); i-- > 0;) {
      frame.slots[binders[i].slot] =
          Value::scalar(DType::Int64, static_cast<std::uint64_t>(rest % extents[i]));
      rest /= extents[i];
    }
    if (interrupt_requested.load(std::memory_order_relaxed)) {
      frame.machine.fail(DiagnosticKind::Interrupted, "interrupted", {});
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

// The empty result of extents that hold a zero: the body never ran, so its type must say the shape.
Value empty_result(Machine& machine, const lang::Type& type, lang::Span span) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    auto cell = lang::TupleCell::make(tuple->fields.size());
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      cell->fields()[i] = empty_result(machine, tuple->fields[i], span);
      if (cell->fields()[i].is_empty()) return {};
    }
    return Value::tuple(std::move(cell));
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor, "a comprehension yields tensors");
  std::vector<std::int64_t> shape;
  for (const auto& dim : tensor->shape.dims())
    shape.push_back(dim.is_constant() ? dim.constant() : 0);
  return Value::tensor(lang::Tensor::make(tensor->dtype.known(), shape));
}

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
  if (!stacks.empty() && !stacks[0].tensor) return empty_result(frame.machine, type_, span);
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
  const bool is_arg = op_ == ReduceOp::ArgMax || op_ == ReduceOp::ArgMin;
  Value best;
  std::int64_t best_at = 0;
  lang::Prim prim = lang::Prim::Add;
  switch (op_) {
    case ReduceOp::Sum:
      prim = lang::Prim::Add;
      break;
    case ReduceOp::Prod:
      prim = lang::Prim::Mul;
      break;
    case ReduceOp::Max:
      prim = lang::Prim::Max;
      break;
    case ReduceOp::Min:
      prim = lang::Prim::Min;
      break;
    case ReduceOp::All:
      prim = lang::Prim::And;
      break;
    case ReduceOp::Any:
      prim = lang::Prim::Or;
      break;
    case ReduceOp::ArgMax:
      prim = lang::Prim::Gt;
      break;
    case ReduceOp::ArgMin:
      prim = lang::Prim::Lt;
      break;
  }
  const bool complete = for_each_point(binders_, extents, frame, [&](std::int64_t linear) {
    Value value = body_->eval(frame);
    if (value.is_empty()) return false;
    if (best.is_empty()) {
      best = std::move(value);
      best_at = linear;
      return true;
    }
    const std::uint64_t operands[2] = {is_arg ? value.bits() : best.bits(),
                                       is_arg ? best.bits() : value.bits()};
    const std::uint64_t combined = scalar_function(prim, value.dtype())(operands);
    if (!is_arg) {
      best = Value::scalar(best.dtype(), combined);
      return true;
    }
    const std::uint64_t self[2] = {best.bits(), best.bits()};
    const std::uint64_t fresh[2] = {value.bits(), value.bits()};
    const auto is_nan = [&](const std::uint64_t* both) {
      return scalar_function(lang::Prim::Ne, value.dtype())(both) != 0;
    };
    if (!is_nan(self) && (combined != 0 || is_nan(fresh))) {
      best = std::move(value);
      best_at = linear;
    }
    return true;
  });
  if (!complete) return {};
  if (is_arg) {
    if (best.is_empty())
      return frame.machine.fail(DiagnosticKind::ShapeMismatchAtRunTime,
                                "argmax or argmin over nothing", span);
    return Value::scalar(DType::Int64, static_cast<std::uint64_t>(best_at));
  }
  if (!best.is_empty()) return best;
  const DType dtype = type->dtype.known();
  switch (op_) {
    case ReduceOp::Sum:
      return Value::scalar(dtype, lang::bits_from_int(dtype, 0));
    case ReduceOp::Prod:
      return Value::scalar(dtype, lang::bits_from_int(dtype, 1));
    case ReduceOp::All:
      return Value::boolean(true);
    case ReduceOp::Any:
      return Value::boolean(false);
    default:
      return frame.machine.fail(DiagnosticKind::ShapeMismatchAtRunTime,
                                fmt::format("`{}` over nothing has no value", name_of(op_)), span);
  }
}

}  // namespace relay::interp
