#include "interp/prepare.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "interp/effects.h"
#include "interp/external.h"
#include "interp/group.h"
#include "interp/index_eval.h"
#include "interp/nodes.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::interp {

using lang::as;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::Value;
using lang::Variable;
using lang::VariableRef;

namespace {

// Variables that are read after the point under preparation. Code is prepared backwards, so a use
// that finds its variable absent is the last one. What happens to it is written down, so that
// another branch can begin with what was there before the first: a copy for each would cost the
// length of the program each time.
class Live {
 public:
  // True if the variable was absent.
  bool insert(const Variable* variable) {
    if (!variables_.insert(variable).second) return false;
    changes_.push_back({variable, true});
    return true;
  }
  void erase(const Variable* variable) {
    if (variables_.erase(variable) > 0) changes_.push_back({variable, false});
  }

  std::size_t now() const { return changes_.size(); }
  // As it was then. Gives what has come since, and is there.
  std::vector<const Variable*> go_back(std::size_t then) {
    std::vector<const Variable*> added;
    for (std::size_t i = then; i < changes_.size(); ++i) {
      const Change& change = changes_[i];
      if (change.is_insertion && variables_.contains(change.variable))
        added.push_back(change.variable);
    }
    for (; changes_.size() > then; changes_.pop_back()) {
      if (changes_.back().is_insertion) {
        variables_.erase(changes_.back().variable);
      } else {
        variables_.insert(changes_.back().variable);
      }
    }
    return added;
  }

 private:
  struct Change {
    const Variable* variable;
    bool is_insertion;
  };
  std::unordered_set<const Variable*> variables_;
  std::vector<Change> changes_;
};

bool is_scalar_type(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->shape.has_rank() && tensor->shape.rank() == 0;
}

// Takes no time worth a look at the clock; of a block, that is up to its parts.
bool is_at_hand(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Let:
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::Function:
    case ExprKind::Tuple:
    case ExprKind::Projection:
      return true;
    default:
      return false;
  }
}

class FunctionPreparer {
 public:
  FunctionPreparer(const lang::Function& fn, std::string name, const VariableRef& self)
      : fn_(fn), self_(self.get()) {
    code_ = FunctionCodeRef(new FunctionCode);
    code_->name = std::move(name);
    code_->param_count = static_cast<std::uint32_t>(fn.params.size());
    code_->source = Expr(&fn);
    code_->self = self;
    for (const auto& param : fn.params) place(param.get());
  }

  // `captures`: free variables, in the order of the closure's captures.
  FunctionCodeRef prepare(const std::vector<VariableRef>& captures) {
    code_->captured = captures;
    for (std::size_t i = 0; i < captures.size(); ++i) {
      places_[captures[i].get()] = {From::Capture, static_cast<std::uint32_t>(i)};
    }
    if (self_) places_[self_] = {From::Self, 0};
    if (const std::string* compiler = lang::compiler_of(code_->source)) {
      if (!captures.empty()) {
        lang::fail(DiagnosticKind::Unsupported,
                   fmt::format("not supported: `{}` from outside in a function for the external "
                               "compiler `{}`",
                               captures.front()->name, *compiler),
                   fn_.span);
      }
      code_->body = std::make_unique<ExternalFunctionCode>(code_->source, *compiler);
      code_->slot_count = next_slot_;
      return code_;
    }
    Live live;
    code_->body = expression(fn_.body, live, true);
    code_->slot_count = next_slot_;
    return code_;
  }

 private:
  std::uint32_t place(const Variable* variable) {
    places_[variable] = {From::Slot, next_slot_};
    return next_slot_++;
  }

  std::uint32_t add_constant(Value value) {
    code_->constants.push_back(std::move(value));
    return static_cast<std::uint32_t>(code_->constants.size() - 1);
  }

  Operand operand(const Expr& atom, Live& live) {
    switch (atom->kind) {
      case ExprKind::Var: {
        const Variable* variable = lang::cast<lang::Var>(atom).variable.get();
        const auto found = places_.find(variable);
        RELAY_CHECK(found != places_.end(),
                    "variable out of scope in prepared code: " + variable->name);
        Operand place = found->second;
        const bool is_last = live.insert(variable);
        if (is_last && place.from == From::Slot && !is_scalar_type(atom->type))
          place.from = From::LastUse;
        return place;
      }
      case ExprKind::Constant:
        return {From::Constant,
                add_constant(Value::tensor(lang::cast<lang::Constant>(atom).value))};
      case ExprKind::GlobalVar: {
        const std::uint32_t index = add_constant({});
        code_->pending_globals.push_back(
            {index, lang::cast<lang::GlobalVar>(atom).name, atom->type, atom->span});
        return {From::Constant, index};
      }
      case ExprKind::ConstructorRef: {
        const auto* constructor = lang::cast<lang::ConstructorRef>(atom).constructor;
        if (constructor->fields.empty())
          return {From::Constant, add_constant(Value::adt(lang::AdtCell::make(constructor, {})))};
        return {From::Constant, add_constant(Value::constructor(constructor))};
      }
      case ExprKind::Operator:
        return {From::Constant, add_constant(operator_value(atom))};
      case ExprKind::Tuple:
        RELAY_CHECK(lang::cast<lang::Tuple>(atom).fields.empty(),
                    "a compound operand is not in A-normal form");
        return {From::Constant, add_constant(Value::unit())};
      case ExprKind::DimTerm: {
        const auto& dim = lang::cast<lang::DimTerm>(atom).dim;
        RELAY_CHECK(dim.is_constant(), "a symbolic dim must have become dim_of before evaluation");
        return {From::Constant,
                add_constant(
                    Value::scalar(lang::DType::Int64, static_cast<std::uint64_t>(dim.constant())))};
      }
      default:
        break;
    }
    RELAY_CHECK(false, fmt::format("operand of kind {} is not an atom", name_of(atom->kind)));
    return {};
  }

  // From the last operand to the first, so that the last use is the one evaluated last.
  std::vector<Operand> operands(const std::vector<Expr>& atoms, Live& live) {
    std::vector<Operand> result(atoms.size());
    for (std::size_t i = atoms.size(); i-- > 0;) result[i] = operand(atoms[i], live);
    return result;
  }

  CodePtr expression(const Expr& expr, Live& live, bool tail) {
    CodePtr code = plain_expression(expr, live, tail);
    Profile* const profile = Profile::running();
    if (!profile || is_at_hand(expr)) return code;
    const Profile::Place place = profile->place_of(expr->span);
    if (place == Profile::kNowhere) return code;
    return std::make_unique<ProfiledCode>(std::move(code), profile->number(), place);
  }

  CodePtr plain_expression(const Expr& expr, Live& live, bool tail) {
    switch (expr->kind) {
      case ExprKind::Let:
        return block(expr, live, tail);
      case ExprKind::If:
        return branch(lang::cast<lang::If>(expr), live, tail);
      case ExprKind::Match:
        return match(lang::cast<lang::Match>(expr), live, tail);
      case ExprKind::Call:
        return call(expr, live, tail);
      case ExprKind::Function:
        return closure(expr, nullptr, live);
      case ExprKind::Tuple:
        return std::make_unique<TupleCode>(operands(lang::cast<lang::Tuple>(expr).fields, live));
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        return std::make_unique<ProjectionCode>(operand(projection.tuple, live), projection.index);
      }
      case ExprKind::RefCreate:
        return std::make_unique<RefCreateCode>(
            operand(lang::cast<lang::RefCreate>(expr).value, live));
      case ExprKind::RefRead:
        return std::make_unique<RefReadCode>(operand(lang::cast<lang::RefRead>(expr).ref, live),
                                             expr->span);
      case ExprKind::RefWrite: {
        const auto& write = lang::cast<lang::RefWrite>(expr);
        const Operand value = operand(write.value, live);
        return std::make_unique<RefWriteCode>(operand(write.ref, live), value, expr->span);
      }
      case ExprKind::Primitive:
        return primitive(lang::cast<lang::Primitive>(expr), live);
      case ExprKind::Index:
        return index(expr, live);
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return index_notation(expr, live);
      case ExprKind::Differentiate:
        lang::fail(DiagnosticKind::Unsupported,
                   "not supported: a derivative of a function that is only known at run time",
                   expr->span);
      default:
        return std::make_unique<OperandCode>(operand(expr, live), expr->span);
    }
  }

  CodePtr block(const Expr& expr, Live& live, bool tail) {
    lang::Block opened = lang::open_block(expr);
    std::vector<BlockCode::Step> steps(opened.bindings.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i].slot = place(opened.bindings[i].variable.get());
    CodePtr result = expression(opened.result, live, tail);
    for (std::size_t i = steps.size(); i-- > 0;) {
      const auto& binding = opened.bindings[i];
      live.erase(binding.variable.get());
      steps[i].code = binding.value->kind == ExprKind::Function
                          ? closure(binding.value, binding.variable, live)
                          : expression(binding.value, live, false);
    }
    return std::make_unique<BlockCode>(std::move(steps), std::move(result));
  }

  CodePtr branch(const lang::If& node, Live& live, bool tail) {
    const std::size_t before = live.now();
    CodePtr else_code = expression(node.else_branch, live, tail);
    const std::vector<const Variable*> in_else = live.go_back(before);
    CodePtr then_code = expression(node.then_branch, live, tail);
    for (const Variable* variable : in_else) live.insert(variable);
    CodePtr condition = expression(node.condition, live, false);
    return std::make_unique<IfCode>(std::move(condition), std::move(then_code),
                                    std::move(else_code));
  }

  PatternCode pattern(const lang::PatternRef& node) {
    PatternCode code;
    code.kind = node->kind;
    if (node->kind == lang::PatternKind::Variable) code.slot = place(node->variable.get());
    code.constructor = node->constructor;
    for (std::size_t i = 0; i < node->fields.size(); ++i) {
      if (node->fields[i]->kind == lang::PatternKind::Wildcard) continue;
      code.fields.push_back(pattern(node->fields[i]));
      code.fields.back().place = static_cast<std::uint32_t>(i);
    }
    return code;
  }

  CodePtr match(const lang::Match& node, Live& live, bool tail) {
    std::vector<MatchCode::Arm> arms(node.clauses.size());
    const std::size_t before = live.now();
    std::vector<const Variable*> in_arms;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      arms[i].pattern = pattern(node.clauses[i].pattern);
      arms[i].body = expression(node.clauses[i].body, live, tail);
      const std::vector<const Variable*> in_arm = live.go_back(before);
      in_arms.insert(in_arms.end(), in_arm.begin(), in_arm.end());
    }
    for (const Variable* variable : in_arms) live.insert(variable);
    return std::make_unique<MatchCode>(operand(node.scrutinee, live), std::move(arms), node.span);
  }

  CodePtr closure(const Expr& expr, const VariableRef& self, Live& live) {
    std::vector<VariableRef> captures;
    bool uses_self = false;
    for (const auto& variable : lang::free_variables(expr)) {
      if (variable == self) {
        uses_self = true;
      } else {
        captures.push_back(variable);
      }
    }
    // Normalisation names what has no name, and gives the name the place of its value.
    const bool is_named = self && self->span && self->span != expr->span;
    FunctionPreparer inner(lang::cast<lang::Function>(expr), is_named ? self->name : std::string(),
                           uses_self ? self : VariableRef());
    FunctionCodeRef code = inner.prepare(captures);
    code_->inner.push_back(code);
    std::vector<Expr> uses;
    for (const auto& variable : captures) uses.push_back(lang::make_var(variable));
    return std::make_unique<MakeClosureCode>(std::move(code), operands(uses, live));
  }

  CodePtr call(const Expr& expr, Live& live, bool tail) {
    const auto& node = lang::cast<lang::Call>(expr);
    const Expr& callee = node.callee;
    switch (callee->kind) {
      case ExprKind::Operator:
        return operator_call(expr, node, *lang::cast<lang::Operator>(callee).op, live);
      case ExprKind::ConstructorRef:
        return std::make_unique<ConstructCode>(lang::cast<lang::ConstructorRef>(callee).constructor,
                                               operands(node.args, live));
      case ExprKind::Function:
        if (lang::is_group(callee)) {
          return group_code(callee, node.args, live, expr->span);
        }
        break;
      case ExprKind::GlobalVar:
        return std::make_unique<CallGlobalCode>(lang::cast<lang::GlobalVar>(callee).name,
                                                callee->type, operands(node.args, live), tail,
                                                expr->span);
      case ExprKind::Var:
        if (lang::cast<lang::Var>(callee).variable.get() == self_) {
          return std::make_unique<CallSelfCode>(operands(node.args, live), tail, expr->span);
        }
        break;
      default:
        break;
    }
    std::vector<Operand> args = operands(node.args, live);
    return std::make_unique<CallValueCode>(operand(callee, live), std::move(args), tail,
                                           expr->span);
  }

  CodePtr operator_call(const Expr& expr, const lang::Call& node, const lang::OpDef& op,
                        Live& live) {
    if (op.effect != lang::Effect::None) {
      return std::make_unique<EffectCode>(&op, node.attrs, operands(node.args, live), expr->type,
                                          expr->span);
    }
    bool all_scalar = is_scalar_type(expr->type);
    for (const auto& arg : node.args) all_scalar = all_scalar && is_scalar_type(arg->type);
    if (all_scalar && op.definition) {
      const Expr expanded = op.definition({node.args, node.attrs, expr->type});
      if (lang::is_scalar_code(expanded)) {
        operator_span_ = expr->span;
        return expression(expanded, live, false);
      }
    }
    return group(expr, live);
  }

  // A group of one expression; its free variables become parameters.
  CodePtr group(const Expr& expr, Live& live) {
    std::vector<VariableRef> params;
    std::vector<Expr> args;
    lang::Substitution renamed;
    for (const auto& variable : lang::free_variables(expr)) {
      params.push_back(lang::make_variable(variable->name, variable->type, variable->span));
      args.push_back(lang::make_var(variable));
      renamed[variable.get()] = lang::make_var(params.back());
    }
    const Expr body = lang::substitute(expr, renamed);
    const Expr fn = lang::make_function(params, expr->type, body, {}, nullptr, expr->span);
    return group_code(fn, args, live, expr->span);
  }

  CodePtr group_code(const Expr& function, const std::vector<Expr>& args, Live& live,
                     lang::Span span) {
    auto made = std::make_unique<GroupCode>(function, operands(args, live), span);
    code_->groups.push_back({&made->group(), args});
    return made;
  }

  CodePtr primitive(const lang::Primitive& node, Live& live) {
    std::vector<PrimitiveCode::Arg> args(node.args.size());
    for (std::size_t i = args.size(); i-- > 0;) {
      const Expr& arg = node.args[i];
      if (arg->kind == ExprKind::Var || arg->kind == ExprKind::Constant) {
        args[i].operand = operand(arg, live);
      } else {
        args[i].code = expression(arg, live, false);
      }
    }
    const lang::DType result = as<lang::TensorType>(node.type)->dtype.known();
    const lang::DType first = as<lang::TensorType>(node.args.back()->type)->dtype.known();
    if (node.prim == lang::Prim::Cast) {
      return std::make_unique<PrimitiveCode>(scalar_cast(first, result), result, false,
                                             std::move(args), node.span);
    }
    const lang::Span span = node.span ? node.span : operator_span_;
    const bool divides = node.prim == lang::Prim::Div || node.prim == lang::Prim::Mod ||
                         node.prim == lang::Prim::FloorDiv || node.prim == lang::Prim::FloorMod;
    return std::make_unique<PrimitiveCode>(scalar_function(node.prim, first), result,
                                           divides && lang::is_int(first), std::move(args), span);
  }

  CodePtr index(const Expr& expr, Live& live) {
    const auto& node = lang::cast<lang::Index>(expr);
    std::vector<Operand> indices = operands(node.indices, live);
    return std::make_unique<IndexCode>(operand(node.tensor, live), std::move(indices), expr->span);
  }

  std::vector<BinderCode> binders(const std::vector<lang::IndexBinder>& nodes) {
    std::vector<BinderCode> codes(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      codes[i].slot = place(nodes[i].variable.get());
      codes[i].span = nodes[i].variable->span;
    }
    return codes;
  }

  // The outermost index notation is a function of its own, so that it may become native code.
  CodePtr nest(const Expr& expr, Live& live) {
    const std::vector<VariableRef> params = lang::free_variables(expr);
    std::vector<Expr> args;
    args.reserve(params.size());
    for (const auto& param : params) args.push_back(lang::make_var(param));
    const Expr fn = lang::make_function(params, expr->type, expr, {}, nullptr, expr->span);
    FunctionPreparer inner(lang::cast<lang::Function>(fn), code_->name, nullptr);
    inner.code_->is_nest = true;
    FunctionCodeRef code = inner.prepare({});
    code_->inner.push_back(code);
    return std::make_unique<CallPreparedCode>(std::move(code), operands(args, live), expr->span);
  }

  CodePtr index_notation(const Expr& expr, Live& live) {
    if (loops::is_lowerable(expr)) return group(expr, live);
    if (!code_->is_nest && !is_inside_nest_) return nest(expr, live);
    // The body runs many times: nothing it reads from outside is at its last use there.
    for (const auto& variable : lang::free_variables(expr)) live.insert(variable.get());
    const auto prepare_with = [&](const std::vector<lang::IndexBinder>& nodes, const Expr& body,
                                  auto make) -> CodePtr {
      std::vector<BinderCode> codes = binders(nodes);
      is_inside_nest_ = true;
      CodePtr body_code = expression(body, live, false);
      for (const auto& node : nodes) live.erase(node.variable.get());
      for (std::size_t i = nodes.size(); i-- > 0;)
        codes[i].extent = expression(nodes[i].extent, live, false);
      return make(std::move(codes), std::move(body_code));
    };
    if (const auto* node = as<lang::Comprehension>(expr)) {
      return prepare_with(node->binders, node->body, [&](auto codes, auto body) {
        return std::make_unique<ComprehensionCode>(std::move(codes), std::move(body), expr->type,
                                                   expr->span);
      });
    }
    if (const auto* node = as<lang::Reduction>(expr)) {
      return prepare_with(node->binders, node->body, [&](auto codes, auto body) {
        return std::make_unique<ReductionCode>(node->op, std::move(codes), std::move(body),
                                               expr->type, expr->span);
      });
    }
    RELAY_CHECK(false, "a scatter whose body is no scalar code");
    return nullptr;
  }

  const lang::Function& fn_;
  const Variable* self_;
  FunctionCodeRef code_;
  lang::Span operator_span_;  // of the operator whose definition is being prepared: its nodes have
                              // no place
  std::unordered_map<const Variable*, Operand> places_;
  std::uint32_t next_slot_ = 0;
  bool is_inside_nest_ = false;
};

}  // namespace

FunctionCodeRef prepare_function(const std::string& name, const Expr& function) {
  const auto* fn = as<lang::Function>(function);
  RELAY_CHECK(fn, "only functions are prepared");
  const auto free = lang::free_variables(function);
  RELAY_CHECK(free.empty(), "a global function must be closed");
  FunctionPreparer preparer(*fn, name, nullptr);
  return preparer.prepare({});
}

namespace {

// fn (x0, x1) { callee(x0, x1) } of a typed callee.
Value function_of(const Expr& callee, const lang::FunctionType& type, const std::string& name,
                  const lang::AttrsRef& attrs) {
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    params.push_back(lang::make_variable(fmt::format("x{}", i), type.params[i]));
    args.push_back(lang::make_var(params.back()));
  }
  const Expr body = lang::make_call(callee, args, attrs, callee->span, type.result);
  const Expr fn =
      lang::make_function(params, type.result, body, {}, nullptr, callee->span, callee->type);
  const lang::Ref<Closure> closure(new Closure);
  closure->code = prepare_function(name, fn);
  return Value::closure(lang::Ref<lang::ClosureCell>(closure.get()));
}

}  // namespace

Value constructor_closure(const lang::Constructor* constructor) {
  FunctionCodeRef code(new FunctionCode);
  code->name = constructor->name;
  code->param_count = code->slot_count = static_cast<std::uint32_t>(constructor->fields.size());
  code->constructor = constructor;
  std::vector<Operand> fields;
  for (std::uint32_t i = 0; i < code->param_count; ++i) fields.push_back({From::LastUse, i});
  code->body = std::make_unique<ConstructCode>(constructor, std::move(fields));
  const lang::Ref<Closure> closure(new Closure);
  closure->code = std::move(code);
  return Value::closure(lang::Ref<lang::ClosureCell>(closure.get()));
}

Value operator_value(const Expr& atom) {
  const auto* type = as<lang::FunctionType>(atom->type);
  RELAY_CHECK(type, "an operator used as a value has a function type");
  const lang::OpDef& op = *lang::cast<lang::Operator>(atom).op;
  return function_of(atom, *type, op.name, lang::complete_attrs(op, nullptr, atom->span));
}

FunctionCodeRef prepare_closure(const std::string& name, const Expr& function,
                                const std::vector<VariableRef>& captured) {
  return FunctionPreparer(lang::cast<lang::Function>(function), name, nullptr).prepare(captured);
}

}  // namespace relay::interp
