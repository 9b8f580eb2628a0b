#include <fmt/format.h>

#include "flow/lowerer.h"
#include "flow/tables.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/record.h"
#include "lang/schedule.h"
#include "loops/reduce_op.h"

namespace relay::flow {

void Lowerer::run(const std::vector<lang::VariableRef>& params, const Expr& body) {
  Slot next = 0;
  for (std::size_t i = 0; i < params.size(); ++i)
    variables_[params[i].get()] = spread_params(function_.param_types[i], next);
  memo_.emplace_back();
  tail(body, function_.body);
  function_.is_lowered = true;
}

// --- Slots, constants, steps ---

Slot Lowerer::new_slot(SlotType type) {
  function_.slots.push_back(type);
  return static_cast<Slot>(function_.slots.size() - 1);
}

Spread Lowerer::new_slots(const lang::Type& type, std::vector<Slot>& slots) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    std::vector<Spread> parts;
    for (const auto& field : tuple->fields) parts.push_back(new_slots(field, slots));
    return Spread::of(std::move(parts));
  }
  if (const std::size_t count = small_elements(type)) {
    std::vector<Spread> parts;
    for (std::size_t i = 0; i < count; ++i) {
      slots.push_back(new_slot({lang::ValueKind::Scalar, dtype_of(type)}));
      parts.push_back(Spread::of(Operand::slot(slots.back())));
    }
    return Spread::of_tensor(type, std::move(parts));
  }
  slots.push_back(new_slot(cell_type(type)));
  return Spread::of(Operand::slot(slots.back()));
}

Spread Lowerer::spread_params(const lang::Type& type, Slot& next) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    std::vector<Spread> parts;
    for (const auto& field : tuple->fields) parts.push_back(spread_params(field, next));
    return Spread::of(std::move(parts));
  }
  if (const std::size_t count = small_elements(type)) {
    std::vector<Spread> parts;
    for (std::size_t i = 0; i < count; ++i) parts.push_back(Spread::of(Operand::slot(next++)));
    return Spread::of_tensor(type, std::move(parts));
  }
  return Spread::of(Operand::slot(next++));
}

Spread Lowerer::constant_spread(lang::Value value, const lang::Type& type, Block& block) {
  if (!value.is_tensor() || small_elements(type) == 0)
    return unboxed(constant(std::move(value)), type, {}, block);
  std::vector<Spread> parts;
  const lang::Tensor& tensor = value.as_tensor();
  for (std::int64_t i = 0; i < tensor.element_count(); ++i)
    parts.push_back(Spread::of(constant(lang::Value::scalar(tensor.dtype(), tensor.bits_at(i)))));
  Spread result = Spread::of_tensor(type, std::move(parts));
  result.whole = constant(std::move(value));
  return result;
}

Operand Lowerer::constant(lang::Value value) {
  function_.constants.push_back(std::move(value));
  return Operand::constant(static_cast<std::uint32_t>(function_.constants.size() - 1));
}

const Site* Lowerer::site(lang::Span span) {
  function_.sites.push_back(std::make_unique<Site>(Site{span ? span : operator_span_}));
  return function_.sites.back().get();
}

Step& Lowerer::add(Block& block, StepKind kind) {
  if (small_depth_ > 0 && small_steps_++ == most_small_steps_) throw NotSmall{};
  block.steps.emplace_back();
  block.steps.back().kind = kind;
  return block.steps.back();
}

Operand Lowerer::boxed(const Spread& value, Block& block) {
  if (!value.is_tuple) return value.operand;
  if (value.whole) return *value.whole;
  if (value.tensor) {
    std::vector<Operand> elements;
    append_operands(value, block, elements);
    const auto wanted =
        std::find_if(outermost_.wanted.begin(), outermost_.wanted.end(), [&](const Wanted& each) {
          return is_param(elements) && each.first == elements.front().index &&
                 lang::equal(each.type, value.tensor);
        });
    const bool is_before = wanted != outermost_.wanted.end();
    const Slot slot = is_before ? wanted->slot : new_slot(cell_type(value.tensor));
    if (is_before && std::exchange(wanted->is_made, true)) return Operand::slot(slot);
    Step& step = add(is_before ? *outermost_.around : block, StepKind::Tensor);
    step.args = std::move(elements);
    step.type = value.tensor;
    step.results = {slot};
    return Operand::slot(slot);
  }
  if (value.parts.empty()) return constant(lang::Value::unit());
  std::vector<Operand> fields;
  for (const Spread& part : value.parts) fields.push_back(boxed(part, block));
  const Slot slot = new_slot({lang::ValueKind::Tuple, {}});
  Step& step = add(block, StepKind::Construct);
  step.args = std::move(fields);
  step.results = {slot};
  return Operand::slot(slot);
}

// Those of a small tensor that the function takes, as it takes them.
bool Lowerer::is_param(const std::vector<Operand>& elements) const {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].is_slot() || elements[i].index >= function_.param_count ||
        elements[i].index != elements[0].index + i)
      return false;
  }
  return true;
}

Spread Lowerer::tensor_of(Operand cell, const lang::Type& type, lang::Span span, Block& block) {
  Step& step = add(block, StepKind::CheckShape);
  step.args = {cell};
  step.type = type;
  step.site = site(span);
  Spread tensor = Spread::of_tensor(type, {});
  tensor.whole = cell;
  return tensor;
}

Spread Lowerer::unboxed(Operand cell, const lang::Type& type, lang::Span span, Block& block) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) {
    return small_elements(type) == 0 ? Spread::of(cell) : tensor_of(cell, type, span, block);
  }
  std::vector<Spread> parts;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
    const Slot slot = new_slot(cell_type(tuple->fields[i]));
    Step& step = add(block, StepKind::Field);
    step.args = {cell};
    step.number = i;
    step.results = {slot};
    parts.push_back(unboxed(Operand::slot(slot), tuple->fields[i], span, block));
  }
  return Spread::of(std::move(parts));
}

Spread Lowerer::elements_of(const std::vector<Operand>& args, const lang::Type& type,
                            bool in_bounds, const Site* site, Block& block) {
  const std::vector<lang::Dim>& dims = dims_of(type);
  std::vector<std::int64_t> at(dims.size(), 0);
  std::vector<Spread> parts;
  for (std::size_t i = 0; i < yielded_elements(type); ++i) {
    const Slot slot = new_slot({lang::ValueKind::Scalar, dtype_of(type)});
    std::vector<Operand> indices = args;
    for (const std::int64_t each : at) indices.push_back(index_constant(each));
    Step& step = add(block, StepKind::Element);
    step.args = std::move(indices);
    step.in_bounds = in_bounds;
    step.site = site;
    step.results = {slot};
    parts.push_back(Spread::of(Operand::slot(slot)));
    next_point(at, dims);
  }
  return Spread::of_tensor(type, std::move(parts));
}

std::vector<Spread> Lowerer::parts_of(const Spread& value, Block& block) {
  if (!value.tensor || !value.parts.empty()) return value.parts;
  return elements_of({*value.whole}, value.tensor, true, nullptr, block).parts;
}

Spread Lowerer::as_type(const Spread& value, const lang::Type& type, Block& block) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    std::vector<Spread> parts;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      parts.push_back(as_type(value.parts[i], tuple->fields[i], block));
    return Spread::of(std::move(parts));
  }
  const bool is_small = small_elements(type) > 0;
  if (is_small && !value.tensor) return unboxed(value.operand, type, {}, block);
  if (!is_small && value.tensor) return Spread::of(boxed(value, block));
  return value;
}

void Lowerer::append_operands(const Spread& value, Block& block, std::vector<Operand>& operands) {
  if (!value.is_tuple) {
    operands.push_back(value.operand);
    return;
  }
  for (const Spread& part : parts_of(value, block)) append_operands(part, block, operands);
}

void Lowerer::next_point(std::vector<std::int64_t>& at, const std::vector<lang::Dim>& dims) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (++at[axis] < dims[axis].constant()) return;
    at[axis] = 0;
  }
}

Operand Lowerer::number(lang::DType dtype, std::int64_t value) {
  return constant(lang::Value::scalar(dtype, lang::bits_from_int(dtype, value)));
}

Operand Lowerer::index_constant(std::int64_t value) { return number(lang::DType::Int64, value); }

std::optional<std::uint64_t> Lowerer::known_bits(const Operand& operand) const {
  if (operand.is_slot()) return std::nullopt;
  const lang::Value& value = function_.constants[operand.index];
  if (!value.is_scalar()) return std::nullopt;
  return value.bits();
}

std::optional<std::int64_t> Lowerer::known_index(const Operand& operand) const {
  const auto bits = known_bits(operand);
  if (!bits) return std::nullopt;
  return lang::int_from_bits(function_.constants[operand.index].dtype(), *bits);
}

// --- Variables, and nodes that several others share ---

Spread Lowerer::variable(const lang::Var& var) {
  const auto found = variables_.find(var.variable.get());
  if (found == variables_.end())
    refuse(fmt::format("`{}` as a value", var.variable->name), var.span);
  return found->second;
}

const Spread* Lowerer::remembered(const Expr& expr) const {
  for (std::size_t i = memo_.size(); i-- > 0;) {
    if (const auto found = memo_[i].find(expr.get()); found != memo_[i].end())
      return &found->second;
  }
  return nullptr;
}

// --- Expressions ---

Operand Lowerer::scalar(const Expr& expr, Block& block) {
  const Spread value = lower(expr, block);
  RELAY_CHECK(!value.is_tuple, "a scalar is one operand");
  return value.operand;
}

Spread Lowerer::lower(const Expr& expr, Block& block) {
  switch (expr->kind) {
    case ExprKind::Var:
      return variable(cast<lang::Var>(expr));
    case ExprKind::Constant:
      return constant_spread(lang::Value::tensor(cast<lang::Constant>(expr).value), expr->type,
                             block);
    case ExprKind::DimTerm: {
      const auto& dim = cast<lang::DimTerm>(expr).dim;
      if (!dim.is_constant()) refuse("an open extent as a value", expr->span);
      return Spread::of(constant(
          lang::Value::scalar(lang::DType::Int64, static_cast<std::uint64_t>(dim.constant()))));
    }
    case ExprKind::GlobalVar:
      return constant_spread(environment_.value_of(expr), expr->type, block);
    case ExprKind::Operator:
      return Spread::of(constant(environment_.value_of(expr)));
    case ExprKind::ConstructorRef: {
      const auto* constructor = cast<lang::ConstructorRef>(expr).constructor;
      if (!constructor->fields.empty()) return Spread::of(constant(environment_.value_of(expr)));
      return Spread::of(constant(lang::Value::adt(lang::AdtCell::make(constructor, {}))));
    }
    default:
      break;
  }
  if (const Spread* known = remembered(expr)) return *known;
  Spread value = lower_node(expr, block);
  if (!expr->is_unique()) memo_.back().insert_or_assign(expr.get(), value);
  return value;
}

Spread Lowerer::lower_node(const Expr& expr, Block& block) {
  switch (expr->kind) {
    case ExprKind::Let:
      return lower(bindings(expr, block), block);
    case ExprKind::If: {
      const auto& node = cast<lang::If>(expr);
      const Operand condition = scalar(node.condition, block);
      if (const auto known = known_bits(condition))
        return lower(*known != 0 ? node.then_branch : node.else_branch, block);
      std::vector<Block> blocks(2);
      yield(node.then_branch, expr->type, blocks[0]);
      yield(node.else_branch, expr->type, blocks[1]);
      std::vector<Slot> slots;
      Spread value = new_slots(expr->type, slots);
      for (std::size_t i = 0; i < slots.size(); ++i)
        note_either(slots[i], condition, blocks[0].values[i], blocks[1].values[i]);
      Step& step = add(block, StepKind::If);
      step.args = {condition};
      step.blocks = std::move(blocks);
      step.results = std::move(slots);
      return value;
    }
    case ExprKind::Match: {
      Step step = match(cast<lang::Match>(expr), block,
                        [&](const Expr& body, Block& arm) { yield(body, expr->type, arm); });
      Spread value = new_slots(expr->type, step.results);
      block.steps.push_back(std::move(step));
      return value;
    }
    case ExprKind::Tuple: {
      std::vector<Spread> parts;
      for (const Expr& field : cast<lang::Tuple>(expr).fields) parts.push_back(lower(field, block));
      return Spread::of(std::move(parts));
    }
    case ExprKind::Projection: {
      const auto& node = cast<lang::Projection>(expr);
      const Spread tuple = lower(node.tuple, block);
      RELAY_CHECK(tuple.is_tuple, "a projection is of a tuple");
      return tuple.parts[node.index];
    }
    case ExprKind::Primitive:
      return primitive(cast<lang::Primitive>(expr), block);
    case ExprKind::Index:
      return index(cast<lang::Index>(expr), block);
    case ExprKind::Comprehension:
      return comprehension(expr, block);
    case ExprKind::Reduction:
      return reduction(expr, block);
    case ExprKind::ScatterReduce:
      return scatter(expr, block);
    case ExprKind::Call:
      return call(expr, block);
    default:
      return interpret(expr, block);
  }
}

Expr Lowerer::bindings(const Expr& expr, Block& block) {
  Expr rest = expr;
  while (const auto* let = as<lang::Let>(rest)) {
    bind(*let, block);
    rest = let->body;
  }
  return rest;
}

void Lowerer::bind(const lang::Let& let, Block& block) {
  const lang::Variable* variable = let.variable.get();
  if (let.value->kind == ExprKind::Function) {
    if (small_depth_ > 0) throw NotSmall{};
    if (!uses_.is_value(variable) && !lang::compiler_of(let.value)) {
      lift(let.variable, let.value);
      return;
    }
    const Expr closure = lang::make_let(let.variable, let.value, lang::make_var(let.variable),
                                        let.span, let.value->type);
    variables_[variable] = interpret(closure, block);
    return;
  }
  variables_[variable] = lower(let.value, block);
}

void Lowerer::yield(const Expr& expr, const lang::Type& type, Block& block) {
  memo_.emplace_back();
  append_operands(as_type(lower(expr, block), type, block), block, block.values);
  memo_.pop_back();
  block.exit = Exit::Yield;
}

void Lowerer::yield_point(const Expr& expr, Block& block) {
  memo_.emplace_back();
  const Expr result = bindings(expr, block);
  std::optional<Spread> made;
  if (yielded_elements(expr->type) > 0) made = tried_small(result, block);
  const Spread value = made ? *made : lower(result, block);
  const auto* tuple = as<lang::TupleType>(expr->type);
  const std::size_t count = tuple ? tuple->fields.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Spread& part = tuple ? value.parts[i] : value;
    const lang::Type& type = tuple ? tuple->fields[i] : expr->type;
    if (yielded_elements(type) == 0) {
      append_operands(as_type(part, type, block), block, block.values);
    } else if (part.tensor) {
      append_operands(part, block, block.values);
    } else {
      append_operands(tensor_of(part.operand, type, expr->span, block), block, block.values);
    }
  }
  memo_.pop_back();
  block.exit = Exit::Yield;
}

void Lowerer::tail(const Expr& expr, Block& block) {
  const Expr result = bindings(expr, block);
  const auto branch = [this](const Expr& body, Block& inner) {
    memo_.emplace_back();
    tail(body, inner);
    memo_.pop_back();
  };
  switch (result->kind) {
    case ExprKind::If: {
      const auto& node = cast<lang::If>(result);
      const Operand condition = scalar(node.condition, block);
      std::vector<Block> blocks(2);
      branch(node.then_branch, blocks[0]);
      branch(node.else_branch, blocks[1]);
      Step& step = add(block, StepKind::If);
      step.args = {condition};
      step.blocks = std::move(blocks);
      block.exit = Exit::None;
      return;
    }
    case ExprKind::Match: {
      Step step = match(cast<lang::Match>(result), block, branch);
      block.steps.push_back(std::move(step));
      block.exit = Exit::None;
      return;
    }
    case ExprKind::Call: {
      std::vector<Operand> args;
      const auto& node = cast<lang::Call>(result);
      Function* const callee = known_callee(node, block, args);
      if (callee == nullptr) {
        if (const auto* global = as<lang::GlobalVar>(node.callee)) {
          refuse(fmt::format("a tail call of `{}`, which is not native", global->name),
                 result->span);
        }
        if (const auto* var = as<lang::Var>(node.callee)) {
          refuse(fmt::format("a tail call of the function value `{}`", var->variable->name),
                 result->span);
        }
        break;
      }
      if (callee->results != function_.results) {
        // Of other extents, as far as types tell.
        std::vector<Slot> slots;
        const Spread value = new_slots(callee->result_type, slots);
        Step& step = add(block, StepKind::Call);
        step.callee = callee;
        step.args = std::move(args);
        step.results = std::move(slots);
        step.site = site(result->span);
        append_operands(as_type(value, function_.result_type, block), block, block.values);
        block.exit = Exit::Return;
        return;
      }
      block.exit = Exit::TailCall;
      block.callee = callee;
      block.values = std::move(args);
      block.site = site(result->span);
      return;
    }
    default:
      break;
  }
  append_operands(as_type(lower(result, block), function_.result_type, block), block, block.values);
  block.exit = Exit::Return;
}

// --- Calls ---

Function* Lowerer::known_callee(const lang::Call& call, Block& block, std::vector<Operand>& args) {
  Function* callee = nullptr;
  const std::vector<lang::VariableRef>* captures = nullptr;
  if (const auto* global = as<lang::GlobalVar>(call.callee)) {
    callee = environment_.callee(*global);
  } else if (const auto* var = as<lang::Var>(call.callee)) {
    if (const Lifted* lifted = find_lifted(var->variable.get())) {
      callee = lifted->function.get();
      captures = &lifted->captures;
    }
  }
  if (callee == nullptr) return nullptr;
  std::size_t next = 0;
  const auto append = [&](const Spread& value) {
    append_operands(as_type(value, callee->param_types[next++], block), block, args);
  };
  for (const Expr& arg : call.args) append(lower(arg, block));
  if (captures != nullptr) {
    for (const auto& capture : *captures) {
      const auto found = variables_.find(capture.get());
      if (found == variables_.end())
        refuse(fmt::format("`{}` as a value", capture->name), call.span);
      append(found->second);
    }
  }
  return callee;
}

Spread Lowerer::call(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Call>(expr);
  if (const auto* op = as<lang::Operator>(node.callee))
    return operator_call(expr, node, *op->op, block);
  if (const auto* constructor = as<lang::ConstructorRef>(node.callee)) {
    std::vector<Operand> fields;
    for (const Expr& arg : node.args) fields.push_back(boxed(lower(arg, block), block));
    const Slot slot = new_slot({lang::ValueKind::Adt, {}});
    Step& step = add(block, StepKind::Construct);
    step.constructor = constructor->constructor;
    step.args = std::move(fields);
    step.results = {slot};
    return Spread::of(Operand::slot(slot));
  }
  if (lang::is_group(node.callee)) {
    // It stays a nest, which runs as its schedule says.
    const auto& kernel = cast<lang::Function>(node.callee);
    const bool is_scheduled = lang::schedule_of(kernel) != nullptr;
    if (is_scheduled && small_depth_ > 0) throw NotSmall{};
    return is_scheduled ? interpret_alone(expr, block) : group(expr, block);
  }
  std::vector<Operand> args;
  if (Function* const callee = known_callee(node, block, args)) {
    std::vector<Slot> slots;
    const Spread value = new_slots(callee->result_type, slots);
    Step& step = add(block, StepKind::Call);
    step.callee = callee;
    step.args = std::move(args);
    step.results = std::move(slots);
    step.site = site(expr->span);
    return as_type(value, expr->type, block);
  }
  args.push_back(lower(node.callee, block).operand);
  std::vector<lang::Type> types;
  for (const Expr& arg : node.args) {
    args.push_back(boxed(lower(arg, block), block));
    types.push_back(arg->type);
  }
  return as_data(StepKind::CallValue, std::move(args), std::move(types), expr, block);
}

Spread Lowerer::as_data(StepKind kind, std::vector<Operand> args, std::vector<lang::Type> types,
                        const Expr& expr, Block& block, Interpreted* interpreted) {
  const Slot slot = new_slot(cell_type(expr->type));
  Step& step = add(block, kind);
  step.args = std::move(args);
  step.arg_types = std::move(types);
  step.type = expr->type;
  step.results = {slot};
  step.interpreted = interpreted;
  step.site = site(expr->span);
  return unboxed(Operand::slot(slot), expr->type, expr->span, block);
}

Spread Lowerer::interpret(const Expr& expr, Block& block) {
  if (small_depth_ > 0) throw NotSmall{};
  if (auto value = kernels(expr, block)) return std::move(*value);
  if (auto value = small(expr, block, kMostStepsForKernels)) return std::move(*value);
  return interpret_alone(expr, block);
}

Spread Lowerer::interpret_alone(const Expr& expr, Block& block) {
  const std::vector<lang::VariableRef> free = lang::free_variables(expr);
  std::vector<Operand> args;
  std::vector<lang::Type> types;
  for (const auto& each : free) {
    const auto found = variables_.find(each.get());
    if (found == variables_.end()) refuse(fmt::format("`{}` as a value", each->name), expr->span);
    args.push_back(boxed(found->second, block));
    types.push_back(each->type);
  }
  function_.interpreted.push_back(std::make_unique<Interpreted>());
  Interpreted& interpreted = *function_.interpreted.back();
  interpreted.why = why_no_steps(expr);
  interpreted.function = lang::make_function(free, expr->type, expr, {}, nullptr, expr->span,
                                             lang::function_type(types, expr->type));
  return as_data(StepKind::Interpret, std::move(args), std::move(types), expr, block, &interpreted);
}

namespace {

// Scalar code that reads elements of tensors, which are there: short, and without checks, of which
// the operator would be told.
bool is_element_code(const Expr& root) {
  constexpr int kMostNodes = 64;
  int nodes = 0;
  bool is_it = true;
  lang::visit_post_order(root, [&](const Expr& expr) {
    ++nodes;
    switch (expr->kind) {
      case ExprKind::Var:
      case ExprKind::Constant:
      case ExprKind::DimTerm:
      case ExprKind::Primitive:
      case ExprKind::Let:
        return;
      case ExprKind::Index: {
        const auto& index = cast<lang::Index>(expr);
        is_it = is_it && index.in_bounds && is_scalar(expr->type) && as<lang::Var>(index.tensor);
        return;
      }
      default:
        is_it = false;
    }
  });
  return is_it && nodes <= kMostNodes;
}

}  // namespace

Spread Lowerer::operator_call(const Expr& expr, const lang::Call& node, const lang::OpDef& op,
                              Block& block) {
  if (op.effect != lang::Effect::None) return interpret(expr, block);
  bool all_scalar = is_scalar(expr->type);
  for (const Expr& arg : node.args) all_scalar = all_scalar && is_scalar(arg->type);
  const bool may_be_element =
      is_scalar(expr->type) && std::all_of(node.args.begin(), node.args.end(), [](const Expr& arg) {
        return has_constant_extents(arg->type);
      });
  if (op.definition && (all_scalar || may_be_element)) {
    const Expr expanded = op.definition({node.args, node.attrs, expr->type});
    if (all_scalar ? lang::is_scalar_code(expanded) : is_element_code(expanded)) {
      const lang::Span before = operator_span_;
      operator_span_ = expr->span;
      expansions_.push_back(expanded);  // nodes are remembered by their addresses
      Spread value = lower(expanded, block);
      operator_span_ = before;
      return value;
    }
  }
  if (op.name == "dim_of") {
    const Spread tensor = lower(node.args[0], block);
    const auto rank =
        static_cast<std::int64_t>(as<lang::TensorType>(node.args[0]->type)->shape.rank());
    const std::int64_t axis = node.attrs->get_int("axis");
    if (tensor.tensor) {
      const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
      return Spread::of(index_constant(dims_of(tensor.tensor)[at].constant()));
    }
    const Slot slot = new_slot({lang::ValueKind::Scalar, lang::DType::Int64});
    Step& step = add(block, StepKind::Extent);
    step.args = {tensor.operand};
    step.number = static_cast<std::uint32_t>(axis < 0 ? axis + rank : axis);
    step.results = {slot};
    return Spread::of(Operand::slot(slot));
  }
  if (auto value = small(expr, block)) return std::move(*value);
  return interpret(expr, block);
}

// --- Scalars ---

Spread Lowerer::primitive(const lang::Primitive& node, Block& block) {
  std::vector<Operand> args;
  for (const Expr& arg : node.args) args.push_back(scalar(arg, block));
  if (auto known = known_primitive(node, args)) return Spread::of(*known);
  // A kernel does not know which division it was, and nor does what stands for it.
  if (small_depth_ > 0 && lang::divides_integers(node.prim, dtype_of(node.type))) throw NotSmall{};
  const Slot slot = new_slot({lang::ValueKind::Scalar, dtype_of(node.type)});
  Step& step = add(block, StepKind::Primitive);
  step.prim = node.prim;
  step.dtype = dtype_of(node.args.back()->type);
  if (node.prim == lang::Prim::Select) note_either(slot, args[0], args[1], args[2]);
  step.args = std::move(args);
  step.results = {slot};
  step.site = site(node.span);
  return Spread::of(Operand::slot(slot));
}

std::optional<Operand> Lowerer::known_primitive(const lang::Primitive& node,
                                                const std::vector<Operand>& args) {
  std::vector<std::uint64_t> bits;
  for (const Operand& arg : args) {
    const auto known = known_bits(arg);
    if (!known) return std::nullopt;
    bits.push_back(*known);
  }
  const lang::DType result = dtype_of(node.type);
  const auto value =
      environment_.scalar(node.prim, dtype_of(node.args.back()->type), result, bits.data());
  if (!value) return std::nullopt;
  return constant(lang::Value::scalar(result, *value));
}

Spread Lowerer::index(const lang::Index& node, Block& block) {
  const Spread tensor = lower(node.tensor, block);
  if (node.indices.empty()) return tensor;
  std::vector<Operand> indices;
  for (const Expr& each : node.indices) indices.push_back(scalar(each, block));
  if (tensor.tensor) return small_index(tensor, indices, node, block);
  std::vector<Operand> args = {tensor.operand};
  args.insert(args.end(), indices.begin(), indices.end());
  return element_or_part(std::move(args), node, block);
}

Spread Lowerer::element_or_part(std::vector<Operand> args, const lang::Index& node, Block& block) {
  if (small_elements(node.type) > 0)
    return elements_of(args, node.type, false, site(node.span), block);
  if (small_depth_ > 0 && !is_scalar(node.type)) throw NotSmall{};
  const SlotType type = cell_type(node.type);
  const Slot slot = new_slot(type);
  Step& step = add(block, type.is_object() ? StepKind::View : StepKind::Element);
  step.args = std::move(args);
  step.results = {slot};
  step.site = site(node.span);
  if (type.is_object()) views_.emplace(slot, step);
  return Spread::of(Operand::slot(slot));
}

// --- Local functions ---

const Lifted* Lowerer::find_lifted(const lang::Variable* variable) const {
  for (const Lowerer* each = this; each != nullptr; each = each->outer_) {
    if (const auto found = each->lifted_.find(variable); found != each->lifted_.end())
      return &found->second;
  }
  return nullptr;
}

namespace {

// Of what a function takes, and of its result.
void declare_slots(Function& function, const std::vector<lang::VariableRef>& taken,
                   const lang::Variable* self) {
  const auto& source = cast<lang::Function>(function.source);
  function.param_types = slot_types(source, taken, function.name, self);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    function.sites.push_back(std::make_unique<Site>(Site{taken[i]->span}));
    function.param_sites.push_back(function.sites.back().get());
    append_slot_types(function.param_types[i], function.slots);
  }
  function.param_count = function.slots.size();
  function.result_type = source.body->type;
  append_slot_types(function.result_type, function.results);
}

}  // namespace

void Lowerer::lift(const lang::VariableRef& variable, const Expr& literal) {
  const auto& fn = cast<lang::Function>(literal);
  // What it captures, with what the local functions that it calls capture.
  std::vector<lang::VariableRef> captures;
  std::unordered_set<const lang::Variable*> seen = {variable.get()};
  for (const auto& each : lang::free_variables(literal)) {
    const Lifted* const other = find_lifted(each.get());
    if (other == nullptr) {
      if (seen.insert(each.get()).second) captures.push_back(each);
      continue;
    }
    for (const auto& further : other->captures) {
      if (seen.insert(further.get()).second) captures.push_back(further);
    }
  }
  std::vector<lang::VariableRef> params = fn.params;
  params.insert(params.end(), captures.begin(), captures.end());
  Lifted& lifted = lifted_[variable.get()];
  lifted.captures = captures;
  lifted.function = std::make_unique<Function>();
  Function& function = *lifted.function;
  function.name = variable->name;
  function.source = literal;
  function.is_local = true;
  declare_slots(function, params, variable.get());
  Lowerer inner(function, environment_, uses_, this);
  inner.run(params, fn.body);
  inner.keep();
}

void Lowerer::keep() {
  for (auto& [variable, lifted] : lifted_) function_.locals.push_back(std::move(lifted.function));
  for (const Expr& each : expansions_) function_.expansions.push_back(each);
}

// --- Data ---

void Lowerer::add_shape(Operand cell, const std::vector<lang::Type>& fields, Arm& arm) {
  Shape shape{cell, {}};
  for (const lang::Type& field : fields) shape.fields.push_back(stored_type(field));
  arm.shapes.push_back(std::move(shape));
}

SlotType Lowerer::stored_type(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  if (tensor && !(tensor->shape.has_rank() && tensor->dtype.is_known()))
    return {lang::ValueKind::Empty, {}};
  switch (type->kind) {
    case lang::TypeKind::Tensor:
    case lang::TypeKind::Tuple:
    case lang::TypeKind::Adt:
    case lang::TypeKind::Reference:
      return cell_type(type);
    default:
      return {lang::ValueKind::Empty, {}};
  }
}

Spread Lowerer::field_of(Operand cell, std::uint32_t number, const lang::Type& type,
                         lang::Span span, Arm& arm) {
  const Slot slot = new_slot(cell_type(type));
  arm.tests.push_back({Test::Kind::Field, cell, number, slot});
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return unboxed(Operand::slot(slot), type, span, arm.body);
  add_shape(Operand::slot(slot), tuple->fields, arm);
  std::vector<Spread> parts;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    parts.push_back(field_of(Operand::slot(slot), i, tuple->fields[i], span, arm));
  return Spread::of(std::move(parts));
}

void Lowerer::pattern(const lang::Pattern& node, const Spread& value, const lang::Type& type,
                      Arm& arm) {
  switch (node.kind) {
    case lang::PatternKind::Wildcard:
      return;
    case lang::PatternKind::Variable:
      variables_[node.variable.get()] = value;
      return;
    case lang::PatternKind::Tuple: {
      const auto& fields = as<lang::TupleType>(type)->fields;
      for (std::size_t i = 0; i < node.fields.size(); ++i)
        pattern(*node.fields[i], value.parts[i], fields[i], arm);
      return;
    }
    case lang::PatternKind::Constructor: {
      const auto* adt = as<lang::AdtType>(type);
      if (adt->def->constructors.size() > 1)
        arm.tests.push_back({Test::Kind::Tag, value.operand, node.constructor->tag, kNoSlot});
      const std::vector<lang::Type> fields = lang::field_types(*adt, *node.constructor);
      add_shape(value.operand, fields, arm);
      for (std::uint32_t i = 0; i < node.fields.size(); ++i) {
        if (node.fields[i]->kind == lang::PatternKind::Wildcard) continue;
        const auto& variable = node.fields[i]->variable;
        const lang::Span span = variable ? variable->span : lang::Span();
        pattern(*node.fields[i], field_of(value.operand, i, fields[i], span, arm), fields[i], arm);
      }
      return;
    }
  }
}

// --- Index notation ---

void Lowerer::before_loop(const Expr& body, Block& block) {
  if (loop_depth_ > 0) return;
  outermost_ = {&block, {}};
  for (const auto& each : lang::free_variables(body)) {
    const auto known = variables_.find(each.get());
    if (known == variables_.end() || !known->second.tensor || known->second.whole) continue;
    std::vector<Operand> elements;
    append_operands(known->second, block, elements);
    if (!is_param(elements)) continue;
    outermost_.wanted.push_back(
        {elements.front().index, known->second.tensor, new_slot(cell_type(known->second.tensor))});
  }
}

void Lowerer::binders(const std::vector<lang::IndexBinder>& nodes, const Expr& body, Step& step,
                      Block& block) {
  before_loop(body, block);
  for (const auto& node : nodes) {
    step.args.push_back(scalar(node.extent, block));
    const Slot slot = new_slot({lang::ValueKind::Scalar, lang::DType::Int64});
    step.binders.push_back(slot);
    step.binder_sites.push_back(site(node.variable->span));
    variables_[node.variable.get()] = Spread::of(Operand::slot(slot));
  }
}

namespace {

// The leaves of what a body yields, where a loop can stack them; else none.
std::vector<lang::Type> stackable_parts(const lang::Type& body) {
  std::vector<lang::Type> parts = {body};
  if (const auto* tuple = as<lang::TupleType>(body)) parts = tuple->fields;
  const bool are_tensors = std::all_of(parts.begin(), parts.end(), [](const lang::Type& part) {
    const auto* tensor = as<lang::TensorType>(part);
    return tensor && tensor->shape.has_rank() && tensor->dtype.is_known();
  });
  return are_tensors ? parts : std::vector<lang::Type>{};
}

}  // namespace

Spread Lowerer::comprehension(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Comprehension>(expr);
  if (auto value = small(expr, block)) return std::move(*value);
  if (small_depth_ > 0) throw NotSmall{};
  if (auto value = update(expr, block)) return std::move(*value);
  std::vector<lang::Type> parts = stackable_parts(node.body->type);
  const bool is_native = loop_depth_ > 0 || !lang::is_lowerable(expr);
  if (!is_native || parts.empty()) return interpret(expr, block);
  Step step;
  step.kind = StepKind::Loop;
  binders(node.binders, node.body, step, block);
  step.site = site(expr->span);
  step.type = expr->type;
  step.blocks.resize(1);
  in_loop([&] { yield_point(node.body, step.blocks[0]); });
  std::vector<Operand> made;
  for (const lang::Type& part : parts) {
    step.results.push_back(new_slot({lang::ValueKind::Tensor, dtype_of(part)}));
    made.push_back(Operand::slot(step.results.back()));
  }
  step.parts = std::move(parts);
  block.steps.push_back(std::move(step));
  const auto* tuple = as<lang::TupleType>(expr->type);
  if (!tuple) return unboxed(made[0], expr->type, expr->span, block);
  std::vector<Spread> fields;
  for (std::size_t i = 0; i < made.size(); ++i)
    fields.push_back(unboxed(made[i], tuple->fields[i], expr->span, block));
  return Spread::of(std::move(fields));
}

Spread Lowerer::reduction(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Reduction>(expr);
  if (auto value = small(expr, block)) return std::move(*value);
  if (loop_depth_ == 0 && lang::is_lowerable(expr)) return interpret(expr, block);
  Step step;
  step.kind = StepKind::Fold;
  step.reduce = node.op;
  step.dtype = dtype_of(loops::is_arg(node.op) ? node.body->type : expr->type);
  binders(node.binders, node.body, step, block);
  step.site = site(expr->span);
  step.blocks.resize(1);
  in_loop([&] { yield(node.body, node.body->type, step.blocks[0]); });
  Spread value = new_slots(expr->type, step.results);
  block.steps.push_back(std::move(step));
  return value;
}

namespace {

void append_slots(const lang::Type& type, std::vector<SlotType>& slots, int levels) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    if (levels == 0) refuse("tuples of that many levels", {});
    for (const auto& field : tuple->fields) append_slots(field, slots, levels - 1);
    return;
  }
  if (const std::size_t count = small_elements(type)) {
    slots.insert(slots.end(), count, {lang::ValueKind::Scalar, dtype_of(type)});
    return;
  }
  slots.push_back(cell_type(type));
}

}  // namespace

void append_slot_types(const lang::Type& type, std::vector<SlotType>& slots) {
  constexpr int kMostLevels = 16;
  constexpr std::size_t kMostSlots = 512;  // of a function's parameters or result
  append_slots(type, slots, kMostLevels);
  if (slots.size() > kMostSlots)
    refuse(fmt::format("more than {} scalars and objects at once", kMostSlots), {});
}

SlotType cell_type(const lang::Type& type) {
  switch (type->kind) {
    case lang::TypeKind::Tensor: {
      const auto& tensor = *as<lang::TensorType>(type);
      if (!tensor.shape.has_rank() || !tensor.dtype.is_known())
        refuse("a tensor of open rank or dtype", {});
      if (tensor.shape.rank() == 0) return {lang::ValueKind::Scalar, tensor.dtype.known()};
      return {lang::ValueKind::Tensor, tensor.dtype.known()};
    }
    case lang::TypeKind::Tuple:
      return {lang::ValueKind::Tuple, {}};
    case lang::TypeKind::Adt:
      return {lang::ValueKind::Adt, {}};
    case lang::TypeKind::Function:
      return {lang::ValueKind::Closure, {}};
    case lang::TypeKind::Reference:
      return {lang::ValueKind::Reference, {}};
    default:
      refuse(fmt::format("a value of type `{}`", lang::to_string(type)), {});
  }
}

void declare(Function& function, std::string name, const Expr& source) {
  const auto& fn = cast<lang::Function>(source);
  function.name = std::move(name);
  function.source = source;
  declare_slots(function, fn.params, nullptr);
}

void lower(Function& function, Environment& environment) {
  const auto& fn = cast<lang::Function>(function.source);
  const Uses uses(function.source);
  Lowerer lowerer(function, environment, uses, nullptr);
  lowerer.run(fn.params, fn.body);
  lowerer.keep();
}

}  // namespace relay::flow
