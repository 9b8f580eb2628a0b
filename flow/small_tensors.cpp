#include <array>

#include "flow/lowerer.h"
#include "lang/op.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"

// Small tensors: an element in each slot.
namespace relay::flow {

namespace {

bool has_constant_extents(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_constant_extents);
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->shape.has_rank() &&
         std::all_of(tensor->shape.dims().begin(), tensor->shape.dims().end(),
                     [](const lang::Dim& dim) { return dim.is_constant(); });
}

}  // namespace

std::optional<Spread> Lowerer::small(const Expr& expr, Block& block) {
  if (!is_small(expr->type)) return std::nullopt;
  if (small_depth_ > 0) return small_value(expr, block);
  if (all_small_steps_ > kMostSmallStepsInAll) return std::nullopt;
  Block tried;
  const std::size_t scopes = memo_.size();
  const lang::Span before = operator_span_;
  std::optional<Spread> value;
  memo_.emplace_back();
  ++small_depth_;
  small_steps_ = 0;
  try {
    value = small_value(expr, tried);
    all_small_steps_ += small_steps_;
    block.steps.insert(block.steps.end(), std::make_move_iterator(tried.steps.begin()),
                       std::make_move_iterator(tried.steps.end()));
  } catch (const NotSmall&) {
    value.reset();
  } catch (const lang::Failure&) {
    value.reset();
  }
  small_depth_ = 0;
  memo_.resize(scopes);
  operator_span_ = before;
  return value;
}

Spread Lowerer::small_value(const Expr& expr, Block& block) {
  switch (expr->kind) {
    case ExprKind::Comprehension: {
      const auto& node = cast<lang::Comprehension>(expr);
      std::vector<Spread> parts;
      at_points(
          node.binders,
          [&] {
            const Spread element = lower(node.body, block);
            if (!element.is_tuple) {
              parts.push_back(element);
            } else if (element.tensor) {
              const std::vector<Spread> elements = parts_of(element, block);
              parts.insert(parts.end(), elements.begin(), elements.end());
            } else {
              throw NotSmall{};
            }
          },
          block);
      if (!as<lang::TensorType>(expr->type)) throw NotSmall{};
      return Spread::of_tensor(expr->type, std::move(parts));
    }
    case ExprKind::Reduction: {
      const auto& node = cast<lang::Reduction>(expr);
      std::vector<Operand> elements;
      at_points(
          node.binders, [&] { elements.push_back(scalar(node.body, block)); }, block);
      return Spread::of(folded(node, elements, block));
    }
    case ExprKind::Call:
      break;
    default:
      throw NotSmall{};
  }
  const auto& node = cast<lang::Call>(expr);
  if (const auto* group = as<lang::Function>(node.callee)) {
    for (std::size_t i = 0; i < node.args.size(); ++i)
      variables_[group->params[i].get()] = lower(node.args[i], block);
    return lower(group->body, block);
  }
  const auto* op = as<lang::Operator>(node.callee);
  if (!op || !op->op->nests || !op->op->definition) throw NotSmall{};
  for (const Expr& arg : node.args) {
    if (!has_constant_extents(arg->type)) throw NotSmall{};
  }
  const lang::Span outer = operator_span_;
  if (expr->span) operator_span_ = expr->span;
  const Expr expanded = op->op->definition({node.args, node.attrs, expr->type});
  expansions_.push_back(expanded);
  Spread value = lower(expanded, block);
  operator_span_ = outer;
  return value;
}

Operand Lowerer::folded(const lang::Reduction& node, const std::vector<Operand>& elements,
                        Block& block) {
  const lang::DType dtype = dtype_of(node.body->type);
  if (loops::is_arg(node.op) || dtype == lang::DType::Float16 || dtype == lang::DType::BFloat16)
    throw NotSmall{};
  const lang::Prim prim = loops::prim_of(node.op);
  const auto combine = [&](const Operand& a, const Operand& b) {
    const Slot slot = new_slot({lang::ValueKind::Scalar, dtype});
    Step& step = add(block, StepKind::Primitive);
    step.prim = prim;
    step.dtype = dtype;
    step.args = {a, b};
    step.results = {slot};
    step.site = site(node.span);
    return Operand::slot(slot);
  };
  constexpr std::size_t kLanes = loops::kReductionLanes;
  std::vector<Operand> lanes(
      elements.begin(),
      elements.begin() + static_cast<std::ptrdiff_t>(std::min(elements.size(), kLanes)));
  if (node.op == lang::ReduceOp::Sum && lang::is_float(dtype)) {
    const Operand zero = constant(lang::Value::scalar(dtype, 0));
    for (Operand& lane : lanes) lane = combine(zero, lane);
  }
  for (std::size_t i = lanes.size(); i < elements.size(); ++i)
    lanes[i % kLanes] = combine(lanes[i % kLanes], elements[i]);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width && i + width < lanes.size(); ++i)
      lanes[i] = combine(lanes[i], lanes[i + width]);
    lanes.resize(std::min(lanes.size(), width));
  }
  return lanes[0];
}

Spread Lowerer::small_index(const Spread& tensor, const std::vector<Operand>& indices,
                            const lang::Index& node, Block& block) {
  const std::vector<lang::Dim>& dims = dims_of(tensor.tensor);
  std::size_t first = 0;
  std::size_t count = small_elements(tensor.tensor);
  bool is_known = true;
  for (std::size_t axis = 0; axis < indices.size() && is_known; ++axis) {
    const auto at = known_index(indices[axis]);
    is_known = at && *at >= 0 && *at < dims[axis].constant();
    if (!is_known) break;
    count /= static_cast<std::size_t>(dims[axis].constant());
    first += static_cast<std::size_t>(*at) * count;
  }
  if (is_known && tensor.parts.empty()) {
    std::vector<Operand> args = {*tensor.whole};
    args.insert(args.end(), indices.begin(), indices.end());
    return element_or_part(std::move(args), node, block);
  }
  if (is_known) {
    if (indices.size() == dims.size()) return tensor.parts[first];
    const auto begin = tensor.parts.begin() + static_cast<std::ptrdiff_t>(first);
    return Spread::of_tensor(node.type, {begin, begin + static_cast<std::ptrdiff_t>(count)});
  }
  if (tensor.whole) {
    std::vector<Operand> args = {*tensor.whole};
    args.insert(args.end(), indices.begin(), indices.end());
    return element_or_part(std::move(args), node, block);
  }
  if (small_depth_ > 0) throw NotSmall{};
  if (node.in_bounds && dims.size() == 1) return chosen(tensor, indices[0], block);
  std::vector<Operand> args = {boxed(tensor, block)};
  args.insert(args.end(), indices.begin(), indices.end());
  return element_or_part(std::move(args), node, block);
}

Spread Lowerer::chosen(const Spread& tensor, const Operand& index, Block& block) {
  const lang::DType dtype = operand_dtype(index);
  Operand value = tensor.parts[0].operand;
  for (std::size_t i = 1; i < tensor.parts.size(); ++i) {
    const Operand position = constant(lang::Value::scalar(dtype, i));
    const Operand is_it = emit(lang::Prim::Eq, dtype, lang::DType::Bool, {index, position}, block);
    value = emit(lang::Prim::Select, dtype_of(tensor.tensor), dtype_of(tensor.tensor),
                 {is_it, tensor.parts[i].operand, value}, block);
  }
  return Spread::of(value);
}

lang::DType Lowerer::operand_dtype(const Operand& operand) const {
  return operand.is_slot() ? function_.slots[operand.index].dtype
                           : function_.constants[operand.index].dtype();
}

Operand Lowerer::emit(lang::Prim prim, lang::DType operand, lang::DType result,
                      std::vector<Operand> args, Block& block) {
  const Slot slot = new_slot({lang::ValueKind::Scalar, result});
  Step& step = add(block, StepKind::Primitive);
  step.prim = prim;
  step.dtype = operand;
  step.args = std::move(args);
  step.results = {slot};
  return Operand::slot(slot);
}

}  // namespace relay::flow
