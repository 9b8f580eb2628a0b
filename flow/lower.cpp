#include "flow/lower.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"

namespace relay::flow {

using lang::as;
using lang::cast;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::is_scalar;

namespace {

[[noreturn]] void refuse(std::string_view what, lang::Span span) {
  lang::fail(DiagnosticKind::Unsupported, fmt::format("not supported: {}", what), span);
}

// A value in slots: one operand, or the parts of a tuple or of a small tensor.
struct Spread {
  bool is_tuple = false;
  Operand operand;
  std::vector<Spread> parts;
  lang::Type tensor = {};             // of a small tensor
  std::optional<Operand> whole = {};  // an object that holds the same, if there is one; then the
                                      // parts may be missing, and are read from it
  static Spread of(Operand operand) { return {false, operand, {}}; }
  static Spread of(std::vector<Spread> parts) { return {true, {}, std::move(parts)}; }
  static Spread of_tensor(const lang::Type& type, std::vector<Spread> elements) {
    return {true, {}, std::move(elements), type};
  }
};

const std::vector<lang::Dim>& dims_of(const lang::Type& type) {
  return as<lang::TensorType>(type)->shape.dims();
}

// Scalars, small tensors, tuples of such.
bool is_small(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_small);
  return is_scalar(type) || small_elements(type) > 0;
}

// What was tried with small tensors needs an object, or grows.
struct NotSmall {};

lang::DType dtype_of(const lang::Type& type) { return as<lang::TensorType>(type)->dtype.known(); }

bool is_group(const Expr& callee) {
  const auto* function = as<lang::Function>(callee);
  return function && function->attrs && function->attrs->find("Primitive");
}

// A local function whose calls are all known becomes a function of its own, with what it captures
// as further parameters.
struct Lifted {
  std::unique_ptr<Function> function;
  std::vector<lang::VariableRef> captures;
};

// The variables of a function that are used other than as what is called.
class Uses {
 public:
  explicit Uses(const Expr& root) {
    lang::visit_post_order(root, [&](const Expr& node) {
      const auto* call = as<lang::Call>(node);
      lang::for_each_child(node, [&](const Expr& child) {
        const auto* var = as<lang::Var>(child);
        if (var && !(call && child == call->callee)) values_.insert(var->variable.get());
      });
      // The same node as callee and as argument.
      if (call) {
        for (const Expr& arg : call->args) {
          if (const auto* var = as<lang::Var>(arg)) values_.insert(var->variable.get());
        }
      }
    });
    if (const auto* function = as<lang::Function>(root)) {
      if (const auto* var = as<lang::Var>(function->body)) values_.insert(var->variable.get());
    }
  }
  bool is_value(const lang::Variable* variable) const { return values_.contains(variable); }

 private:
  std::unordered_set<const lang::Variable*> values_;
};

class Lowerer {
 public:
  Lowerer(Function& function, Environment& environment, const Uses& uses, Lowerer* outer)
      : function_(function), environment_(environment), uses_(uses), outer_(outer) {}

  void run(const std::vector<lang::VariableRef>& params, const Expr& body) {
    Slot next = 0;
    for (const auto& param : params) variables_[param.get()] = spread_params(param->type, next);
    memo_.emplace_back();
    tail(body, function_.body);
    function_.is_lowered = true;
  }

 private:
  // --- Slots, constants, steps ---

  Slot new_slot(SlotType type) {
    function_.slots.push_back(type);
    return static_cast<Slot>(function_.slots.size() - 1);
  }

  // New slots for a value of a type; they are appended to `slots`.
  Spread new_slots(const lang::Type& type, std::vector<Slot>& slots) {
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

  Spread spread_params(const lang::Type& type, Slot& next) {
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

  // The value of an expression, spread.
  Spread constant_spread(lang::Value value, const lang::Type& type, Block& block) {
    if (!value.is_tensor() || small_elements(type) == 0)
      return unboxed(constant(std::move(value)), type, block);
    std::vector<Spread> parts;
    const lang::Tensor& tensor = value.as_tensor();
    for (std::int64_t i = 0; i < tensor.element_count(); ++i)
      parts.push_back(Spread::of(constant(lang::Value::scalar(tensor.dtype(), tensor.bits_at(i)))));
    Spread result = Spread::of_tensor(type, std::move(parts));
    result.whole = constant(std::move(value));
    return result;
  }

  Operand constant(lang::Value value) {
    function_.constants.push_back(std::move(value));
    return Operand::constant(static_cast<std::uint32_t>(function_.constants.size() - 1));
  }

  const Site* site(lang::Span span) {
    function_.sites.push_back(std::make_unique<Site>(Site{span ? span : operator_span_}));
    return function_.sites.back().get();
  }

  Step& add(Block& block, StepKind kind) {
    if (small_depth_ > 0 && small_steps_++ == kMostSmallSteps) throw NotSmall{};
    block.steps.emplace_back();
    block.steps.back().kind = kind;
    return block.steps.back();
  }

  // A value as data holds it.
  Operand boxed(const Spread& value, Block& block) {
    if (!value.is_tuple) return value.operand;
    if (value.whole) return *value.whole;
    if (value.tensor) {
      const Slot slot = new_slot(cell_type(value.tensor));
      std::vector<Operand> elements;
      append_operands(value, block, elements);
      Step& step = add(block, StepKind::Tensor);
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

  // What a cell's field or an interpreted result is, spread.
  Spread unboxed(Operand cell, const lang::Type& type, Block& block) {
    const auto* tuple = as<lang::TupleType>(type);
    if (!tuple) {
      if (small_elements(type) == 0) return Spread::of(cell);
      Spread tensor = Spread::of_tensor(type, {});
      tensor.whole = cell;
      return tensor;
    }
    std::vector<Spread> parts;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const Slot slot = new_slot(cell_type(tuple->fields[i]));
      Step& step = add(block, StepKind::Field);
      step.args = {cell};
      step.number = i;
      step.results = {slot};
      parts.push_back(unboxed(Operand::slot(slot), tuple->fields[i], block));
    }
    return Spread::of(std::move(parts));
  }

  // The part of a tensor (args[0]) at the indices behind it, as a small tensor.
  Spread elements_of(const std::vector<Operand>& args, const lang::Type& type, bool in_bounds,
                     const Site* site, Block& block) {
    const std::vector<lang::Dim>& dims = dims_of(type);
    std::vector<std::int64_t> at(dims.size(), 0);
    std::vector<Spread> parts;
    for (std::size_t i = 0; i < small_elements(type); ++i) {
      const Slot slot = new_slot({lang::ValueKind::Scalar, dtype_of(type)});
      std::vector<Operand> indices = args;
      for (const std::int64_t each : at) indices.push_back(index_constant(each));
      Step& step = add(block, StepKind::Element);
      step.args = std::move(indices);
      step.in_bounds = in_bounds || i > 0;
      step.site = site;
      step.results = {slot};
      parts.push_back(Spread::of(Operand::slot(slot)));
      next_point(at, dims);
    }
    return Spread::of_tensor(type, std::move(parts));
  }

  std::vector<Spread> parts_of(const Spread& value, Block& block) {
    if (!value.tensor || !value.parts.empty()) return value.parts;
    return elements_of({*value.whole}, value.tensor, true, nullptr, block).parts;
  }

  // The value in the slots of `type`, which may tell less, or more, of a tensor's extents than what
  // the value was made of.
  Spread as_type(const Spread& value, const lang::Type& type, Block& block) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Spread> parts;
      for (std::size_t i = 0; i < tuple->fields.size(); ++i)
        parts.push_back(as_type(value.parts[i], tuple->fields[i], block));
      return Spread::of(std::move(parts));
    }
    const bool is_small = small_elements(type) > 0;
    if (is_small && !value.tensor) return unboxed(value.operand, type, block);
    if (!is_small && value.tensor) return Spread::of(boxed(value, block));
    return value;
  }

  void append_operands(const Spread& value, Block& block, std::vector<Operand>& operands) {
    if (!value.is_tuple) {
      operands.push_back(value.operand);
      return;
    }
    for (const Spread& part : parts_of(value, block)) append_operands(part, block, operands);
  }

  static void next_point(std::vector<std::int64_t>& at, const std::vector<lang::Dim>& dims) {
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis].constant()) return;
      at[axis] = 0;
    }
  }

  Operand index_constant(std::int64_t value) {
    return constant(lang::Value::scalar(lang::DType::Int64, static_cast<std::uint64_t>(value)));
  }

  // The number that an operand is known to be.
  std::optional<std::uint64_t> known_bits(const Operand& operand) const {
    if (operand.is_slot()) return std::nullopt;
    const lang::Value& value = function_.constants[operand.index];
    if (!value.is_scalar()) return std::nullopt;
    return value.bits();
  }
  std::optional<std::int64_t> known_index(const Operand& operand) const {
    const auto bits = known_bits(operand);
    if (!bits) return std::nullopt;
    return lang::int_from_bits(function_.constants[operand.index].dtype(), *bits);
  }

  // --- Variables, and nodes that several others share ---

  Spread variable(const lang::Var& var) {
    const auto found = variables_.find(var.variable.get());
    if (found == variables_.end())
      refuse(fmt::format("`{}` as a value", var.variable->name), var.span);
    return found->second;
  }

  const Spread* remembered(const Expr& expr) const {
    for (std::size_t i = memo_.size(); i-- > 0;) {
      if (const auto found = memo_[i].find(expr.get()); found != memo_[i].end())
        return &found->second;
    }
    return nullptr;
  }

  // --- Expressions ---

  Operand scalar(const Expr& expr, Block& block) {
    const Spread value = lower(expr, block);
    RELAY_CHECK(!value.is_tuple, "a scalar is one operand");
    return value.operand;
  }

  Spread lower(const Expr& expr, Block& block) {
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

  Spread lower_node(const Expr& expr, Block& block) {
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
        for (const Expr& field : cast<lang::Tuple>(expr).fields)
          parts.push_back(lower(field, block));
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
      case ExprKind::Call:
        return call(expr, block);
      default:
        return interpret(expr, block);
    }
  }

  // Lowers a chain of lets up to its result.
  Expr bindings(const Expr& expr, Block& block) {
    Expr rest = expr;
    while (const auto* let = as<lang::Let>(rest)) {
      bind(*let, block);
      rest = let->body;
    }
    return rest;
  }

  void bind(const lang::Let& let, Block& block) {
    const lang::Variable* variable = let.variable.get();
    if (let.value->kind == ExprKind::Function) {
      if (!uses_.is_value(variable)) {
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

  void yield(const Expr& expr, const lang::Type& type, Block& block) {
    memo_.emplace_back();
    append_operands(as_type(lower(expr, block), type, block), block, block.values);
    memo_.pop_back();
    block.exit = Exit::Yield;
  }

  // Of the function's result: leaves the function.
  void tail(const Expr& expr, Block& block) {
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
        block.exit = Exit::TailCall;
        block.callee = callee;
        block.values = std::move(args);
        block.site = site(result->span);
        return;
      }
      default:
        break;
    }
    append_operands(as_type(lower(result, block), function_.result_type, block), block,
                    block.values);
    block.exit = Exit::Return;
  }

  // --- Calls ---

  // A function whose code is known, and its arguments in slots; null for another callee.
  Function* known_callee(const lang::Call& call, Block& block, std::vector<Operand>& args) {
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

  Spread call(const Expr& expr, Block& block) {
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
    if (is_group(node.callee)) {
      if (auto value = small(expr, block)) return std::move(*value);
      return interpret(expr, block);
    }
    std::vector<Operand> args;
    if (Function* const callee = known_callee(node, block, args)) {
      std::vector<Slot> slots;
      Spread value = new_slots(expr->type, slots);
      Step& step = add(block, StepKind::Call);
      step.callee = callee;
      step.args = std::move(args);
      step.results = std::move(slots);
      step.site = site(expr->span);
      return value;
    }
    args.push_back(lower(node.callee, block).operand);
    std::vector<lang::Type> types;
    for (const Expr& arg : node.args) {
      args.push_back(boxed(lower(arg, block), block));
      types.push_back(arg->type);
    }
    return as_data(StepKind::CallValue, std::move(args), std::move(types), expr, block);
  }

  // A step whose arguments and result are as in data.
  Spread as_data(StepKind kind, std::vector<Operand> args, std::vector<lang::Type> types,
                 const Expr& expr, Block& block, Interpreted* interpreted = nullptr) {
    const Slot slot = new_slot(cell_type(expr->type));
    Step& step = add(block, kind);
    step.args = std::move(args);
    step.arg_types = std::move(types);
    step.type = expr->type;
    step.results = {slot};
    step.interpreted = interpreted;
    step.site = site(expr->span);
    return unboxed(Operand::slot(slot), expr->type, block);
  }

  Spread interpret(const Expr& expr, Block& block) {
    if (small_depth_ > 0) throw NotSmall{};
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
    interpreted.function = lang::make_function(free, expr->type, expr, {}, nullptr, expr->span,
                                               lang::function_type(types, expr->type));
    return as_data(StepKind::Interpret, std::move(args), std::move(types), expr, block,
                   &interpreted);
  }

  Spread operator_call(const Expr& expr, const lang::Call& node, const lang::OpDef& op,
                       Block& block) {
    if (op.effect != lang::Effect::None) return interpret(expr, block);
    bool all_scalar = is_scalar(expr->type);
    for (const Expr& arg : node.args) all_scalar = all_scalar && is_scalar(arg->type);
    if (all_scalar && op.definition) {
      const Expr expanded = op.definition({node.args, node.attrs, expr->type});
      if (lang::is_scalar_code(expanded)) {
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

  // --- Small tensors ---

  // What computes small tensors of such, and of elements of others, as scalar code. Nothing where
  // that would be long, or something in it is no such thing.
  std::optional<Spread> small(const Expr& expr, Block& block) {
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

  Spread small_value(const Expr& expr, Block& block) {
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
    const lang::Span outer = operator_span_;
    if (expr->span) operator_span_ = expr->span;
    const Expr expanded = op->op->definition({node.args, node.attrs, expr->type});
    expansions_.push_back(expanded);
    Spread value = lower(expanded, block);
    operator_span_ = outer;
    return value;
  }

  // Runs `body` with the binders at each of their points, which are constant and few.
  template <class F>
  void at_points(const std::vector<lang::IndexBinder>& binders, const F& body, Block& block) {
    std::vector<lang::Dim> extents;
    std::int64_t points = 1;
    for (const lang::IndexBinder& binder : binders) {
      const auto extent = known_index(scalar(binder.extent, block));
      if (!extent || *extent < 1 || *extent > kMostSmallPoints) throw NotSmall{};
      extents.emplace_back(*extent);
      points *= *extent;
      if (points > kMostSmallPoints) throw NotSmall{};
    }
    std::vector<std::int64_t> at(binders.size(), 0);
    for (std::int64_t point = 0; point < points; ++point) {
      for (std::size_t i = 0; i < binders.size(); ++i)
        variables_[binders[i].variable.get()] = Spread::of(index_constant(at[i]));
      memo_.emplace_back();
      body();
      memo_.pop_back();
      next_point(at, extents);
    }
  }

  // In the order of loops/loop_ir.h. What a lane starts as matters to a sum of floats alone, which
  // makes of -0 a 0; after that it changes nothing.
  Operand folded(const lang::Reduction& node, const std::vector<Operand>& elements, Block& block) {
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

  // An element, or a part, of a small tensor.
  Spread small_index(const Spread& tensor, const std::vector<Operand>& indices,
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

  // The element at an index that is in range, but known only when it runs.
  Spread chosen(const Spread& tensor, const Operand& index, Block& block) {
    const lang::DType dtype = operand_dtype(index);
    Operand value = tensor.parts[0].operand;
    for (std::size_t i = 1; i < tensor.parts.size(); ++i) {
      const Operand position = constant(lang::Value::scalar(dtype, i));
      const Operand is_it =
          emit(lang::Prim::Eq, dtype, lang::DType::Bool, {index, position}, block);
      value = emit(lang::Prim::Select, dtype_of(tensor.tensor), dtype_of(tensor.tensor),
                   {is_it, tensor.parts[i].operand, value}, block);
    }
    return Spread::of(value);
  }

  lang::DType operand_dtype(const Operand& operand) const {
    return operand.is_slot() ? function_.slots[operand.index].dtype
                             : function_.constants[operand.index].dtype();
  }

  Operand emit(lang::Prim prim, lang::DType operand, lang::DType result, std::vector<Operand> args,
               Block& block) {
    const Slot slot = new_slot({lang::ValueKind::Scalar, result});
    Step& step = add(block, StepKind::Primitive);
    step.prim = prim;
    step.dtype = operand;
    step.args = std::move(args);
    step.results = {slot};
    return Operand::slot(slot);
  }

  // --- Scalars ---

  Spread primitive(const lang::Primitive& node, Block& block) {
    std::vector<Operand> args;
    for (const Expr& arg : node.args) args.push_back(scalar(arg, block));
    if (auto known = known_primitive(node, args)) return Spread::of(*known);
    const Slot slot = new_slot({lang::ValueKind::Scalar, dtype_of(node.type)});
    Step& step = add(block, StepKind::Primitive);
    step.prim = node.prim;
    step.dtype = dtype_of(node.args.back()->type);
    step.args = std::move(args);
    step.results = {slot};
    step.site = site(node.span);
    return Spread::of(Operand::slot(slot));
  }

  // Of operands that are all known.
  std::optional<Operand> known_primitive(const lang::Primitive& node,
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

  Spread index(const lang::Index& node, Block& block) {
    const Spread tensor = lower(node.tensor, block);
    if (node.indices.empty()) return tensor;
    std::vector<Operand> indices;
    for (const Expr& each : node.indices) indices.push_back(scalar(each, block));
    if (tensor.tensor) return small_index(tensor, indices, node, block);
    std::vector<Operand> args = {tensor.operand};
    args.insert(args.end(), indices.begin(), indices.end());
    return element_or_part(std::move(args), node, block);
  }

  Spread element_or_part(std::vector<Operand> args, const lang::Index& node, Block& block) {
    if (small_elements(node.type) > 0)
      return elements_of(args, node.type, node.in_bounds, site(node.span), block);
    if (small_depth_ > 0 && !is_scalar(node.type)) throw NotSmall{};
    const SlotType type = cell_type(node.type);
    const Slot slot = new_slot(type);
    Step& step = add(block, type.is_object() ? StepKind::View : StepKind::Element);
    step.args = std::move(args);
    step.in_bounds = node.in_bounds;
    step.results = {slot};
    step.site = site(node.span);
    return Spread::of(Operand::slot(slot));
  }

  // --- Local functions ---

  const Lifted* find_lifted(const lang::Variable* variable) const {
    for (const Lowerer* each = this; each != nullptr; each = each->outer_) {
      if (const auto found = each->lifted_.find(variable); found != each->lifted_.end())
        return &found->second;
    }
    return nullptr;
  }

  void lift(const lang::VariableRef& variable, const Expr& literal) {
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
    for (const auto& param : params) {
      function.param_types.push_back(param->type);
      append_slot_types(param->type, function.slots);
    }
    function.param_count = function.slots.size();
    function.result_type = fn.body->type;
    append_slot_types(fn.body->type, function.results);
    Lowerer inner(function, environment_, uses_, this);
    inner.run(params, fn.body);
    inner.keep();
  }

 public:
  // Local functions and expanded operators live as long as the function.
  void keep() {
    for (auto& [variable, lifted] : lifted_) function_.locals.push_back(std::move(lifted.function));
    for (const Expr& each : expansions_) function_.expansions.push_back(each);
  }

 private:
  // --- Data ---

  template <class LowerBody>
  Step match(const lang::Match& node, Block& block, LowerBody lower_body) {
    const Spread scrutinee = lower(node.scrutinee, block);
    Step step;
    step.kind = StepKind::Match;
    step.site = site(node.span);
    step.type = node.scrutinee->type;
    append_operands(scrutinee, block, step.args);
    for (const auto& clause : node.clauses) {
      Arm arm;
      pattern(*clause.pattern, scrutinee, node.scrutinee->type, arm);
      lower_body(clause.body, arm.body);
      step.arms.push_back(std::move(arm));
    }
    return step;
  }

  static void add_shape(Operand cell, const std::vector<lang::Type>& fields, Arm& arm) {
    Shape shape{cell, {}};
    for (const lang::Type& field : fields) shape.fields.push_back(stored_type(field));
    arm.shapes.push_back(std::move(shape));
  }

  // As cell_type, but of kind Empty where that refuses, or where a value may be of several kinds.
  static SlotType stored_type(const lang::Type& type) {
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

  // The value of a field, spread; a tuple in data is a cell.
  Spread field_of(Operand cell, std::uint32_t number, const lang::Type& type, Arm& arm) {
    const Slot slot = new_slot(cell_type(type));
    arm.tests.push_back({Test::Kind::Field, cell, number, slot});
    const auto* tuple = as<lang::TupleType>(type);
    if (!tuple) return unboxed(Operand::slot(slot), type, arm.body);
    add_shape(Operand::slot(slot), tuple->fields, arm);
    std::vector<Spread> parts;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      parts.push_back(field_of(Operand::slot(slot), i, tuple->fields[i], arm));
    return Spread::of(std::move(parts));
  }

  void pattern(const lang::Pattern& node, const Spread& value, const lang::Type& type, Arm& arm) {
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
        lang::TypeSubstitution types;
        for (std::size_t i = 0; i < adt->args.size(); ++i)
          lang::bind_argument(types, *adt->def->params[i], adt->args[i]);
        std::vector<lang::Type> fields;
        for (const lang::Type& field : node.constructor->fields)
          fields.push_back(lang::substitute(field, types));
        add_shape(value.operand, fields, arm);
        for (std::uint32_t i = 0; i < node.fields.size(); ++i) {
          if (node.fields[i]->kind == lang::PatternKind::Wildcard) continue;
          pattern(*node.fields[i], field_of(value.operand, i, fields[i], arm), fields[i], arm);
        }
        return;
      }
    }
  }

  // --- Index notation ---

  void binders(const std::vector<lang::IndexBinder>& nodes, Step& step, Block& block) {
    for (const auto& node : nodes) {
      step.args.push_back(scalar(node.extent, block));
      const Slot slot = new_slot({lang::ValueKind::Scalar, lang::DType::Int64});
      step.binders.push_back(slot);
      step.binder_sites.push_back(site(node.variable->span));
      variables_[node.variable.get()] = Spread::of(Operand::slot(slot));
    }
  }

  Spread comprehension(const Expr& expr, Block& block) {
    const auto& node = cast<lang::Comprehension>(expr);
    if (auto value = small(expr, block)) return std::move(*value);
    if (small_depth_ > 0) throw NotSmall{};
    if (small_elements(node.body->type) > 0) return interpret(expr, block);
    std::vector<SlotType> elements;
    append_slot_types(node.body->type, elements);
    bool is_native = loop_depth_ > 0 || !lang::is_lowerable(expr);
    for (const SlotType& element : elements) is_native = is_native && !element.is_object();
    if (const auto* tuple = as<lang::TupleType>(node.body->type)) {
      for (const auto& field : tuple->fields) is_native = is_native && is_scalar(field);
    }
    if (!is_native || elements.empty()) return interpret(expr, block);
    Step step;
    step.kind = StepKind::Loop;
    binders(node.binders, step, block);
    step.site = site(expr->span);
    step.blocks.resize(1);
    ++loop_depth_;
    yield(node.body, node.body->type, step.blocks[0]);
    --loop_depth_;
    std::vector<Operand> made;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      step.results.push_back(new_slot({lang::ValueKind::Tensor, elements[i].dtype}));
      made.push_back(Operand::slot(step.results.back()));
    }
    block.steps.push_back(std::move(step));
    const auto* tuple = as<lang::TupleType>(expr->type);
    if (!tuple) return unboxed(made[0], expr->type, block);
    std::vector<Spread> parts;
    for (std::size_t i = 0; i < made.size(); ++i)
      parts.push_back(unboxed(made[i], tuple->fields[i], block));
    return Spread::of(std::move(parts));
  }

  Spread reduction(const Expr& expr, Block& block) {
    const auto& node = cast<lang::Reduction>(expr);
    if (auto value = small(expr, block)) return std::move(*value);
    if (loop_depth_ == 0 && lang::is_lowerable(expr)) return interpret(expr, block);
    Step step;
    step.kind = StepKind::Fold;
    step.reduce = node.op;
    step.dtype = dtype_of(node.body->type);
    binders(node.binders, step, block);
    step.site = site(expr->span);
    step.blocks.resize(1);
    ++loop_depth_;
    yield(node.body, node.body->type, step.blocks[0]);
    --loop_depth_;
    Spread value = new_slots(expr->type, step.results);
    block.steps.push_back(std::move(step));
    return value;
  }

  Function& function_;
  Environment& environment_;
  const Uses& uses_;
  Lowerer* outer_;
  std::unordered_map<const lang::Variable*, Spread> variables_;
  std::unordered_map<const lang::Variable*, Lifted> lifted_;
  std::vector<std::unordered_map<const lang::ExprNode*, Spread>> memo_;  // by block
  std::vector<Expr> expansions_;
  lang::Span operator_span_;
  int loop_depth_ = 0;
  static constexpr std::int64_t kMostSmallPoints = 64;
  static constexpr std::size_t kMostSmallSteps = 150;  // at once
  static constexpr std::size_t kMostSmallStepsInAll = 600;
  int small_depth_ = 0;  // 1: what is lowered is tried as code of small tensors
  std::size_t small_steps_ = 0;
  std::size_t all_small_steps_ = 0;
};

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
  for (const auto& param : fn.params) {
    function.param_types.push_back(param->type);
    append_slot_types(param->type, function.slots);
  }
  function.param_count = function.slots.size();
  function.result_type = fn.body->type;
  append_slot_types(fn.body->type, function.results);
}

void lower(Function& function, Environment& environment) {
  const auto& fn = cast<lang::Function>(function.source);
  const Uses uses(function.source);
  Lowerer lowerer(function, environment, uses, nullptr);
  lowerer.run(fn.params, fn.body);
  lowerer.keep();
}

}  // namespace relay::flow
