#include <fmt/format.h>

#include "flow/lowerer.h"
#include "lang/op.h"
#include "loops/reduce_op.h"

// Scatters: a tensor whose elements become others one by one, in place where nobody else holds it.
// Index notation is a kernel elsewhere, which takes as long to begin as some hundred points do.
namespace relay::flow {

namespace {

constexpr std::int64_t kMostLoopPoints = 256;
constexpr std::int64_t kMostUnrolledPoints = 16;

}  // namespace

Spread Lowerer::scatter(const Expr& expr, Block& block) {
  const auto& node = cast<lang::ScatterReduce>(expr);
  if (is_scalar(node.init->type)) return interpret(expr, block);
  const bool is_into_small = small_elements(node.init->type) > 0;
  if (small_depth_ == 0 && (is_into_small || !node.binders.empty())) {
    if (auto value = tried_small(expr, block)) return std::move(*value);
    return interpret(expr, block);
  }
  const Spread init = as_type(lower(node.init, block), node.init->type, block);
  if (is_into_small) return scatter_small(node, init, block);
  std::int64_t points = 1;
  for (const lang::IndexBinder& binder : node.binders) {
    const auto extent = known_index(scalar(binder.extent, block));
    if (!extent || *extent < 0 || *extent > kMostLoopPoints) throw NotSmall{};
    points *= *extent;
    if (points > kMostLoopPoints) throw NotSmall{};
  }
  const Slot slot = new_slot(cell_type(node.init->type));
  const Operand target = Operand::slot(slot);
  Step& own = add(block, StepKind::Own);
  own.args = {init.operand};
  own.type = node.init->type;
  own.results = {slot};
  own.site = site(expr->span);
  if (node.binders.empty()) {
    store_point(node, target, block);
  } else if (points > 0 && points <= kMostUnrolledPoints) {
    at_points(
        node.binders, [&] { store_point(node, target, block); }, block);
  } else {
    Step step;
    step.kind = StepKind::Loop;
    binders(node.binders, node.value, step, block);
    step.site = site(expr->span);
    step.blocks.resize(1);
    in_loop([&] {
      memo_.emplace_back();
      store_point(node, target, step.blocks[0]);
      memo_.pop_back();
    });
    block.steps.push_back(std::move(step));
  }
  return Spread::of(target);
}

// As a kernel does it: the place is looked at before the value is computed.
void Lowerer::store_point(const lang::ScatterReduce& node, const Operand& target, Block& block) {
  std::vector<Operand> args = {target};
  for (const Expr& index : node.indices) args.push_back(scalar(index, block));
  Step& check = add(block, StepKind::CheckIndex);
  check.args = args;
  check.site = site(node.span);
  args.push_back(scalar(node.value, block));
  const bool is_set = node.op == lang::ReduceOp::Set;
  Step& store = add(block, is_set ? StepKind::Set : StepKind::Store);
  store.args = std::move(args);
  store.reduce = node.op;
  store.dtype = dtype_of(node.init->type);
}

Spread Lowerer::scatter_small(const lang::ScatterReduce& node, const Spread& init, Block& block) {
  Spread tensor = Spread::of_tensor(node.init->type, parts_of(init, block));
  if (node.binders.empty()) {
    scatter_point(node, tensor, block);
  } else {
    at_points(
        node.binders, [&] { scatter_point(node, tensor, block); }, block);
  }
  return tensor;
}

Operand Lowerer::position_of(const lang::Type& tensor, const std::vector<Operand>& indices,
                             Block& block) {
  const std::vector<lang::Dim>& dims = dims_of(tensor);
  constexpr lang::DType kIndex = lang::DType::Int64;
  std::optional<Operand> position;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    Operand index = indices[axis];
    if (operand_dtype(index) != kIndex)
      index = emit(lang::Prim::Cast, operand_dtype(index), kIndex, {index}, block);
    if (position) {
      const Operand row = emit(lang::Prim::Mul, kIndex, kIndex,
                               {*position, index_constant(dims[axis].constant())}, block);
      index = emit(lang::Prim::Add, kIndex, kIndex, {row, index}, block);
    }
    position = index;
  }
  return *position;
}

void Lowerer::scatter_point(const lang::ScatterReduce& node, Spread& tensor, Block& block) {
  const lang::DType dtype = dtype_of(tensor.tensor);
  const auto folded = [&](const Operand& old, const Operand& value, Block& into) {
    if (node.op == lang::ReduceOp::Set) return value;
    return emit(loops::prim_of(node.op), dtype, dtype, {old, value}, into);
  };
  std::vector<Operand> indices;
  for (const Expr& index : node.indices) indices.push_back(scalar(index, block));
  if (const auto position = known_position(tensor.tensor, indices)) {
    Operand& element = tensor.parts[*position].operand;
    element = folded(element, scalar(node.value, block), block);
    return;
  }
  const auto others = [&](Block& inner) {
    const Operand value = scalar(node.value, inner);
    const Operand position = position_of(tensor.tensor, indices, inner);
    std::vector<Operand> elements;
    for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
      const Operand& old = tensor.parts[i].operand;
      const Operand changed = folded(old, value, inner);
      const Operand is_it = emit(lang::Prim::Eq, lang::DType::Int64, lang::DType::Bool,
                                 {position, index_constant(static_cast<std::int64_t>(i))}, inner);
      elements.push_back(emit(lang::Prim::Select, dtype, dtype, {is_it, changed, old}, inner));
    }
    return elements;
  };
  const std::vector<Operand> elements =
      where_inside(tensor, indices, node.span, tensor.parts.size(), block, others);
  for (std::size_t i = 0; i < elements.size(); ++i) tensor.parts[i] = Spread::of(elements[i]);
}

namespace {

// By what is in it: how it may become steps.
enum class GroupForm : std::uint8_t {
  Elements,  // scatters of one element each
  Short,     // small tensors, and scatters
  Kernels,
};

GroupForm form_of(const lang::Function& group) {
  GroupForm form = GroupForm::Elements;
  for (const lang::Binding& binding : lang::open_block(group.body).bindings) {
    const auto* scatter = as<lang::ScatterReduce>(binding.value);
    if (scatter && scatter->binders.empty() && small_elements(scatter->type) == 0) continue;
    if (!scatter && !is_small(binding.value->type)) return GroupForm::Kernels;
    form = GroupForm::Short;
  }
  return form;
}

}  // namespace

namespace {

std::string why_no_loop(const std::vector<lang::IndexBinder>& binders) {
  std::int64_t points = 1;
  for (const lang::IndexBinder& binder : binders) {
    const auto* constant = as<lang::Constant>(binder.extent);
    if (!constant) return fmt::format("the extent of `{}` is no constant", binder.variable->name);
    points *= static_cast<std::int64_t>(constant->value->number_at(0));
    if (points > kMostLoopPoints) return fmt::format("more than {} points", kMostLoopPoints);
  }
  return "its body is no short scalar code";
}

}  // namespace

std::string Lowerer::why_no_steps(const Expr& expr) {
  if (const auto* scatter = as<lang::ScatterReduce>(expr)) return why_no_loop(scatter->binders);
  std::vector<Expr> values = {expr};
  const auto* call = as<lang::Call>(expr);
  if (call && lang::is_group(call->callee)) {
    values.clear();
    for (const lang::Binding& each :
         lang::open_block(cast<lang::Function>(call->callee).body).bindings)
      values.push_back(each.value);
  }
  for (const Expr& value : values) {
    if (value->kind == ExprKind::ScatterReduce || is_small(value->type)) continue;
    return fmt::format("it gives `{}`, {}", lang::to_string(value->type),
                       has_constant_extents(value->type) ? "no small tensor" : "of open extents");
  }
  const bool is_open =
      call && !std::all_of(call->args.begin(), call->args.end(),
                           [](const Expr& arg) { return has_constant_extents(arg->type); });
  return is_open ? "its operands are of open extents" : "it is no short scalar code";
}

Spread Lowerer::group(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Call>(expr);
  switch (form_of(cast<lang::Function>(node.callee))) {
    case GroupForm::Elements:
      return group_body(node, block);
    case GroupForm::Short:
      if (auto value = tried_small(expr, block)) return std::move(*value);
      break;
    case GroupForm::Kernels:
      if (auto value = small(expr, block)) return std::move(*value);
      break;
  }
  return interpret(expr, block);
}

Spread Lowerer::group_body(const lang::Call& node, Block& block) {
  const auto& group = cast<lang::Function>(node.callee);
  for (std::size_t i = 0; i < node.args.size(); ++i)
    variables_[group.params[i].get()] = lower(node.args[i], block);
  return lower(group.body, block);
}

}  // namespace relay::flow
