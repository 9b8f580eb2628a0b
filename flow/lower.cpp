#include "flow/lower.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

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

// A value in slots: one operand, or the parts of a tuple.
struct Spread {
  bool is_tuple = false;
  Operand operand;
  std::vector<Spread> parts;
  static Spread of(Operand operand) { return {false, operand, {}}; }
  static Spread of(std::vector<Spread> parts) { return {true, {}, std::move(parts)}; }
};

void append_operands(const Spread& value, std::vector<Operand>& operands) {
  if (!value.is_tuple) {
    operands.push_back(value.operand);
    return;
  }
  for (const Spread& part : value.parts) append_operands(part, operands);
}

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
    slots.push_back(new_slot(cell_type(type)));
    return Spread::of(Operand::slot(slots.back()));
  }

  Spread spread_params(const lang::Type& type, Slot& next) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Spread> parts;
      for (const auto& field : tuple->fields) parts.push_back(spread_params(field, next));
      return Spread::of(std::move(parts));
    }
    return Spread::of(Operand::slot(next++));
  }

  Operand constant(lang::Value value) {
    function_.constants.push_back(std::move(value));
    return Operand::constant(static_cast<std::uint32_t>(function_.constants.size() - 1));
  }

  const Site* site(lang::Span span) {
    function_.sites.push_back(std::make_unique<Site>(Site{span ? span : operator_span_}));
    return function_.sites.back().get();
  }

  static Step& add(Block& block, StepKind kind) {
    block.steps.emplace_back();
    block.steps.back().kind = kind;
    return block.steps.back();
  }

  // A value as data holds it.
  Operand boxed(const Spread& value, Block& block) {
    if (!value.is_tuple) return value.operand;
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
    if (!tuple) return Spread::of(cell);
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

  // --- Variables, and nodes that several others share ---

  Spread variable(const lang::Var& var) {
    const auto found = variables_.find(var.variable.get());
    if (found == variables_.end())
      refuse(fmt::format("`{}` as a value in native code", var.variable->name), var.span);
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
        return Spread::of(constant(lang::Value::tensor(cast<lang::Constant>(expr).value)));
      case ExprKind::DimTerm: {
        const auto& dim = cast<lang::DimTerm>(expr).dim;
        if (!dim.is_constant()) refuse("an open extent as a value in native code", expr->span);
        return Spread::of(constant(
            lang::Value::scalar(lang::DType::Int64, static_cast<std::uint64_t>(dim.constant()))));
      }
      case ExprKind::GlobalVar:
        return unboxed(constant(environment_.value_of(expr)), expr->type, block);
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
        std::vector<Block> blocks(2);
        yield(node.then_branch, blocks[0]);
        yield(node.else_branch, blocks[1]);
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
                          [this](const Expr& body, Block& arm) { yield(body, arm); });
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

  void yield(const Expr& expr, Block& block) {
    memo_.emplace_back();
    append_operands(lower(expr, block), block.values);
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
          const ExprKind kind = node.callee->kind;
          if (kind == ExprKind::Var || kind == ExprKind::GlobalVar)
            refuse("a tail call of an unknown function in native code", result->span);
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
    append_operands(lower(result, block), block.values);
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
    for (const Expr& arg : call.args) append_operands(lower(arg, block), args);
    if (captures != nullptr) {
      for (const auto& capture : *captures) {
        const auto found = variables_.find(capture.get());
        if (found == variables_.end())
          refuse(fmt::format("`{}` as a value in native code", capture->name), call.span);
        append_operands(found->second, args);
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
    if (is_group(node.callee)) return interpret(expr, block);
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
    const std::vector<lang::VariableRef> free = lang::free_variables(expr);
    std::vector<Operand> args;
    std::vector<lang::Type> types;
    for (const auto& each : free) {
      const auto found = variables_.find(each.get());
      if (found == variables_.end())
        refuse(fmt::format("`{}` as a value in native code", each->name), expr->span);
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
      const Slot slot = new_slot({lang::ValueKind::Scalar, lang::DType::Int64});
      Step& step = add(block, StepKind::Extent);
      step.args = {tensor.operand};
      step.number = static_cast<std::uint32_t>(axis < 0 ? axis + rank : axis);
      step.results = {slot};
      return Spread::of(Operand::slot(slot));
    }
    return interpret(expr, block);
  }

  Spread primitive(const lang::Primitive& node, Block& block) {
    std::vector<Operand> args;
    for (const Expr& arg : node.args) args.push_back(scalar(arg, block));
    const Slot slot = new_slot({lang::ValueKind::Scalar, dtype_of(node.type)});
    Step& step = add(block, StepKind::Primitive);
    step.prim = node.prim;
    step.dtype = dtype_of(node.args.back()->type);
    step.args = std::move(args);
    step.results = {slot};
    step.site = site(node.span);
    return Spread::of(Operand::slot(slot));
  }

  Spread index(const lang::Index& node, Block& block) {
    std::vector<Operand> args = {lower(node.tensor, block).operand};
    if (node.indices.empty()) return Spread::of(args[0]);
    for (const Expr& each : node.indices) args.push_back(scalar(each, block));
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
    append_operands(scrutinee, step.args);
    for (const auto& clause : node.clauses) {
      Arm arm;
      pattern(*clause.pattern, scrutinee, node.scrutinee->type, arm);
      lower_body(clause.body, arm.body);
      step.arms.push_back(std::move(arm));
    }
    return step;
  }

  // The value of a field, spread; a tuple in data is a cell.
  Spread field_of(Operand cell, std::uint32_t number, const lang::Type& type, Arm& arm) {
    const Slot slot = new_slot(cell_type(type));
    arm.tests.push_back({Test::Kind::Field, cell, number, slot});
    const auto* tuple = as<lang::TupleType>(type);
    if (!tuple) return Spread::of(Operand::slot(slot));
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
        for (std::uint32_t i = 0; i < node.fields.size(); ++i) {
          if (node.fields[i]->kind == lang::PatternKind::Wildcard) continue;
          const lang::Type field = lang::substitute(node.constructor->fields[i], types);
          pattern(*node.fields[i], field_of(value.operand, i, field, arm), field, arm);
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
    yield(node.body, step.blocks[0]);
    --loop_depth_;
    Spread value = new_slots(expr->type, step.results);
    block.steps.push_back(std::move(step));
    return value;
  }

  Spread reduction(const Expr& expr, Block& block) {
    const auto& node = cast<lang::Reduction>(expr);
    if (loop_depth_ == 0 && lang::is_lowerable(expr)) return interpret(expr, block);
    Step step;
    step.kind = StepKind::Fold;
    step.reduce = node.op;
    step.dtype = dtype_of(node.body->type);
    binders(node.binders, step, block);
    step.site = site(expr->span);
    step.blocks.resize(1);
    ++loop_depth_;
    yield(node.body, step.blocks[0]);
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
};

void append_slots(const lang::Type& type, std::vector<SlotType>& slots, int levels) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    if (levels == 0) refuse("tuples of that many levels in native code", {});
    for (const auto& field : tuple->fields) append_slots(field, slots, levels - 1);
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
    refuse(fmt::format("more than {} scalars and objects at once in native code", kMostSlots), {});
}

SlotType cell_type(const lang::Type& type) {
  switch (type->kind) {
    case lang::TypeKind::Tensor: {
      const auto& tensor = *as<lang::TensorType>(type);
      if (!tensor.shape.has_rank() || !tensor.dtype.is_known())
        refuse("a tensor of open rank or dtype in native code", {});
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
      refuse(fmt::format("a value of type `{}` in native code", lang::to_string(type)), {});
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
