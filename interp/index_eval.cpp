#include "interp/index_eval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "interp/counted_steps.h"
#include "interp/failures.h"
#include "interp/point_stack.h"
#include "interp/scalar.h"
#include "lang/extents.h"
#include "lang/stop.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::interp {

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
  const CountedSteps steps(frame.machine, total);
  for (std::int64_t linear = 0; linear < total; ++linear) {
    steps.at(linear);
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
    lane() = fold(lane(), widened(element));
    close_element();
  }
  // Of a dot.
  void add_product(std::uint64_t a, std::uint64_t b) {
    lane() = fused(widened(a), widened(b), lane());
    close_element();
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
  std::uint64_t& lane() {
    return lanes_[static_cast<std::size_t>(count_ % loops::kReductionLanes)];
  }
  std::uint64_t widened(std::uint64_t element) const {
    return dtype_ == element_ ? element : scalar_cast(element_, dtype_)(&element);
  }
  void close_element() {
    ++count_;
    if (has_blocks_ && count_ % loops::kReductionBlock == 0) close_block();
  }

  std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t sum) const {
    if (dtype_ == DType::Float64) {
      return std::bit_cast<std::uint64_t>(
          std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(sum)));
    }
    const auto value = [](std::uint64_t bits) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    };
    return std::bit_cast<std::uint32_t>(std::fma(value(a), value(b), value(sum)));
  }

  std::uint64_t fold(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t operands[2] = {a, b};
    return fold_(operands);
  }

  std::uint64_t combined() {
    return loops::combined(lanes_.data(),
                           [this](std::uint64_t a, std::uint64_t b) { return fold(a, b); });
  }

  void close_block() {
    loops::wait(waiting_.data(), count_ / loops::kReductionBlock - 1, combined(),
                [this](std::uint64_t a, std::uint64_t b) { return fold(a, b); });
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
  std::vector<lang::TensorRef> stacks(tuple ? tuple->fields.size() : 1);
  const auto store = [&](lang::TensorRef& stack, std::int64_t linear, const Value& value) {
    return put_point(frame.machine, stack, extents, linear, value.to_tensor(), span);
  };
  const bool complete = for_each_point(binders_, extents, frame, [&](std::int64_t linear) {
    const Value value = body_->eval(frame);
    if (value.is_empty()) return false;
    if (!tuple) return store(stacks[0], linear, value);
    const auto fields = value.as_tuple().fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!store(stacks[i], linear, fields[i])) return false;
    }
    return true;
  });
  if (!complete) return {};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (!stacks[i]) stacks[i] = stack_of_none(tuple ? tuple->fields[i] : type_, extents);
  }
  if (!tuple) return Value::tensor(stacks[0]);
  auto cell = lang::TupleCell::make(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) cell->fields()[i] = Value::tensor(stacks[i]);
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
    if (op_ == ReduceOp::Dot) {
      const auto factors = value.as_tuple().fields();
      fold.add_product(factors[0].bits(), factors[1].bits());
    } else {
      fold.add(value.bits());
    }
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
