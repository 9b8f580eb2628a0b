#include <array>

#include "flow/lowerer.h"
#include "lang/op.h"
#include "lang/schedule.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"

// Small tensors: an element in each slot.
namespace relay::flow {

std::optional<Spread> Lowerer::small(const Expr& expr, Block& block, std::size_t most) {
  // Within what a point yields, a part of it may be as large as the whole.
  const bool is_part = small_depth_ > 0 && yielded_elements(expr->type) > 0;
  return is_part || is_small(expr->type) ? tried_small(expr, block, most) : std::nullopt;
}

std::optional<Spread> Lowerer::tried_small(const Expr& expr, Block& block, std::size_t most) {
  if (small_depth_ > 0) return small_value(expr, block);
  if (all_small_steps_ > kMostSmallStepsInAll) return std::nullopt;
  Block tried;
  const std::size_t scopes = memo_.size();
  const int loops = loop_depth_;
  const Outermost outermost = outermost_;
  const lang::Span before = operator_span_;
  std::optional<Spread> value;
  memo_.emplace_back();
  ++small_depth_;
  small_steps_ = 0;
  most_small_steps_ = most;
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
  loop_depth_ = loops;
  outermost_ = outermost;
  memo_.resize(scopes);
  operator_span_ = before;
  return value;
}

Spread Lowerer::small_value(const Expr& expr, Block& block) {
  switch (expr->kind) {
    case ExprKind::Comprehension:
      return small_points(expr, block);
    case ExprKind::Reduction: {
      const auto& node = cast<lang::Reduction>(expr);
      if (node.op == lang::ReduceOp::Dot) throw NotSmall{};
      std::vector<Operand> elements;
      at_points(
          node.binders, [&] { elements.push_back(scalar(node.body, block)); }, block);
      return Spread::of(folded(node, elements, block));
    }
    case ExprKind::ScatterReduce:
      return scatter(expr, block);
    case ExprKind::Call:
      break;
    default:
      throw NotSmall{};
  }
  const auto& node = cast<lang::Call>(expr);
  if (lang::is_group(node.callee)) {
    if (lang::schedule_of(cast<lang::Function>(node.callee))) throw NotSmall{};
    return group_body(node, block);
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

Spread Lowerer::small_points(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Comprehension>(expr);
  const auto* tuple = as<lang::TupleType>(expr->type);
  const std::vector<lang::Type> types = tuple ? tuple->fields : std::vector{expr->type};
  std::vector<std::vector<Spread>> elements(types.size());
  const auto append = [&](const Spread& value, std::vector<Spread>& to) {
    if (value.is_tuple && !value.tensor) throw NotSmall{};
    const std::vector<Spread> parts = value.tensor ? parts_of(value, block) : std::vector{value};
    to.insert(to.end(), parts.begin(), parts.end());
  };
  at_points(
      node.binders,
      [&] {
        const Spread point = lower(node.body, block);
        for (std::size_t i = 0; i < types.size(); ++i)
          append(tuple ? point.parts[i] : point, elements[i]);
      },
      block);
  std::vector<Spread> made;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!as<lang::TensorType>(types[i])) throw NotSmall{};
    made.push_back(Spread::of_tensor(types[i], std::move(elements[i])));
  }
  return tuple ? Spread::of(std::move(made)) : made[0];
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

std::optional<std::size_t> Lowerer::known_position(const lang::Type& tensor,
                                                   const std::vector<Operand>& indices) const {
  const std::vector<lang::Dim>& dims = dims_of(tensor);
  std::size_t position = 0;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const auto at = known_index(indices[axis]);
    if (!at || !is_inside(indices[axis], dims[axis])) return std::nullopt;
    position =
        position * static_cast<std::size_t>(dims[axis].constant()) + static_cast<std::size_t>(*at);
  }
  return position;
}

Spread Lowerer::small_index(const Spread& tensor, const std::vector<Operand>& indices,
                            const lang::Index& node, Block& block) {
  const bool has_parts = !tensor.parts.empty();
  if (tensor.whole && !(has_parts && known_position(tensor.tensor, indices))) {
    std::vector<Operand> args = {*tensor.whole};
    args.insert(args.end(), indices.begin(), indices.end());
    return element_or_part(std::move(args), node, block);
  }
  return chosen(tensor, indices, node, block);
}

std::optional<EitherIndex> Lowerer::either_index(const Operand& index) const {
  if (!index.is_slot()) return std::nullopt;
  const auto found = either_indices_.find(index.index);
  return found == either_indices_.end() ? std::nullopt : std::optional(found->second);
}

void Lowerer::note_either(Slot slot, const Operand& condition, const Operand& if_true,
                          const Operand& if_false) {
  if (lang::is_float(function_.slots[slot].dtype)) return;
  const auto first = known_index(if_true);
  const auto second = known_index(if_false);
  if (first && second) either_indices_[slot] = {condition, *first, *second};
}

bool Lowerer::is_inside(const Operand& index, const lang::Dim& dim) const {
  const auto fits = [&](std::int64_t at) { return at >= 0 && at < dim.constant(); };
  if (const auto at = known_index(index)) return fits(*at);
  const auto choice = either_index(index);
  return choice && fits(choice->if_true) && fits(choice->if_false);
}

std::vector<Operand> Lowerer::where_inside(
    const Spread& tensor, const std::vector<Operand>& indices, lang::Span span, std::size_t count,
    Block& block, const std::function<std::vector<Operand>(Block&)>& inside) {
  const std::vector<lang::Dim>& dims = dims_of(tensor.tensor);
  std::optional<Operand> holds;
  const auto also = [&](const Operand& condition) {
    holds = holds ? emit(lang::Prim::And, lang::DType::Bool, lang::DType::Bool, {*holds, condition},
                         block)
                  : condition;
  };
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (is_inside(indices[axis], dims[axis])) continue;
    const lang::DType dtype = operand_dtype(indices[axis]);
    if (lang::is_signed_int(dtype))
      also(
          emit(lang::Prim::Ge, dtype, lang::DType::Bool, {indices[axis], number(dtype, 0)}, block));
    also(emit(lang::Prim::Lt, dtype, lang::DType::Bool,
              {indices[axis], number(dtype, dims[axis].constant())}, block));
  }
  if (!holds) return inside(block);
  std::vector<Block> blocks(2);
  memo_.emplace_back();
  blocks[0].values = inside(blocks[0]);
  memo_.pop_back();
  // It fails as the tensor itself does.
  memo_.emplace_back();
  const Operand whole = boxed(tensor, blocks[1]);
  memo_.pop_back();
  Step& check = add(blocks[1], StepKind::CheckIndex);
  check.args = {whole};
  check.args.insert(check.args.end(), indices.begin(), indices.end());
  check.site = site(span);
  const lang::DType dtype = dtype_of(tensor.tensor);
  blocks[1].values.assign(count, constant(lang::Value::scalar(dtype, 0)));
  std::vector<Operand> results;
  Step step;
  step.kind = StepKind::If;
  step.args = {*holds};
  step.blocks = std::move(blocks);
  for (std::size_t i = 0; i < count; ++i) {
    step.results.push_back(new_slot({lang::ValueKind::Scalar, dtype}));
    results.push_back(Operand::slot(step.results.back()));
  }
  block.steps.push_back(std::move(step));
  return results;
}

std::vector<Operand> Lowerer::picked(const Spread& tensor, const std::vector<Operand>& indices,
                                     std::size_t axis, std::size_t first, std::size_t count,
                                     Block& block) {
  if (axis == indices.size()) {
    std::vector<Operand> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(tensor.parts[first * count + i].operand);
    return values;
  }
  const std::int64_t extent = dims_of(tensor.tensor)[axis].constant();
  const Operand& index = indices[axis];
  const auto at = [&](std::int64_t place) {
    const auto row = first * static_cast<std::size_t>(extent) + static_cast<std::size_t>(place);
    return picked(tensor, indices, axis + 1, row, count, block);
  };
  const lang::DType dtype = dtype_of(tensor.tensor);
  const auto either = [&](const Operand& condition, const std::vector<Operand>& values,
                          const std::vector<Operand>& others) {
    std::vector<Operand> either;
    for (std::size_t i = 0; i < count; ++i)
      either.push_back(
          emit(lang::Prim::Select, dtype, dtype, {condition, values[i], others[i]}, block));
    return either;
  };
  if (is_inside(index, dims_of(tensor.tensor)[axis])) {
    if (const auto known = known_index(index)) return at(*known);
    const EitherIndex choice = *either_index(index);
    return either(choice.condition, at(choice.if_true), at(choice.if_false));
  }
  std::vector<Operand> values = at(0);
  for (std::int64_t place = 1; place < extent; ++place) {
    const lang::DType index_dtype = operand_dtype(index);
    const Operand is_it = emit(lang::Prim::Eq, index_dtype, lang::DType::Bool,
                               {index, number(index_dtype, place)}, block);
    values = either(is_it, at(place), values);
  }
  return values;
}

Spread Lowerer::chosen(const Spread& tensor, const std::vector<Operand>& indices,
                       const lang::Index& node, Block& block) {
  const std::size_t count = std::max<std::size_t>(yielded_elements(node.type), 1);
  const auto choose = [&](Block& inner) { return picked(tensor, indices, 0, 0, count, inner); };
  const std::vector<Operand> values =
      node.in_bounds ? choose(block)
                     : where_inside(tensor, indices, node.span, count, block, choose);
  if (is_scalar(node.type)) return Spread::of(values[0]);
  std::vector<Spread> parts;
  for (const Operand& each : values) parts.push_back(Spread::of(each));
  return Spread::of_tensor(node.type, std::move(parts));
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
