// Calls, and what can be called: operators, constructors, globals.

#include <fmt/format.h>

#include "lang/record.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

Type Inference::operator_value(const OpDef& op, Span span) {
  Relation relation;
  relation.op = &op;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) relation.args.push_back(solver_.fresh_type());
  relation.attrs = complete_attrs(op, nullptr, span);
  relation.result = solver_.fresh_type();
  relation.span = span;
  Type type = function_type(relation.args, relation.result);
  relations_.add(std::move(relation));
  return type;
}

Type Inference::constructor_type(const Constructor& constructor) {
  const TypeDef& def = *constructor.owner;
  TypeSubstitution fresh;
  std::vector<Type> args;
  for (const TypeVarRef& param : def.params) {
    args.push_back(param->kind == VarKind::Dim ? dimension_type(solver_.fresh_dim())
                                               : solver_.fresh_type());
    bind_argument(fresh, *param, args.back());
  }
  Type result = adt_type(&def, std::move(args));
  if (constructor.fields.empty()) return result;
  std::vector<Type> fields;
  for (const Type& field : constructor.fields)
    fields.push_back(open(substitute(field, fresh), constructor.span));
  return function_type(std::move(fields), result);
}

Type Inference::instantiate(const Scheme& scheme, Span span, const std::string& name) {
  if (scheme.variables.empty()) return scheme.type;
  TypeSubstitution fresh;
  for (const TypeVarRef& var : scheme.variables) {
    switch (var->kind) {
      case VarKind::Type:
        fresh.types.emplace(var.get(), solver_.fresh_type());
        break;
      case VarKind::Shape:
        fresh.shapes.emplace(var.get(), solver_.fresh_shape());
        break;
      case VarKind::DType:
        fresh.dtypes.emplace(var.get(), solver_.fresh_dtype());
        break;
      case VarKind::Dim:
        fresh.dims.emplace(var.get(), solver_.fresh_dim());
        break;
    }
  }
  for (const DTypeRequirement& requirement : scheme.requirements) {
    auto found = fresh.dtypes.find(requirement.var.get());
    if (found != fresh.dtypes.end()) solver_.require(found->second, requirement.operands);
  }
  for (const DimEquation& equation : scheme.equations) {
    solver_.relate({substitute(equation.a, fresh), substitute(equation.b, fresh), name, span});
  }
  for (const OpenRelation& open : scheme.relations) {
    Relation relation;
    relation.op = open.op;
    for (const Type& arg : open.args) relation.args.push_back(substitute(arg, fresh));
    relation.attrs = open.attrs;
    relation.result = substitute(open.result, fresh);
    relation.span = span;
    relation.needed_by = name;
    relations_.add(std::move(relation));
  }
  return substitute(scheme.type, fresh);
}

Type Inference::global_type(const GlobalVar& use) {
  GlobalUse global = globals_.find(use);
  return global.scheme ? instantiate(*global.scheme, use.span, use.name) : global.type;
}

Type Inference::infer_callee(const Call& call) {
  switch (call.callee->kind) {
    case ExprKind::GlobalVar:
      return calls_[&call].callee = global_type(cast<GlobalVar>(call.callee));
    case ExprKind::ConstructorRef:
      return calls_[&call].callee =
                 constructor_type(*cast<ConstructorRef>(call.callee).constructor);
    default:
      return infer(call.callee);
  }
}

const Function* Inference::callee_function(const Expr& callee) const {
  if (const auto* global = as<GlobalVar>(callee)) {
    const Definition* definition = globals_.definition(global->name);
    return definition ? as<Function>(definition->function) : nullptr;
  }
  if (const auto* var = as<Var>(callee)) {
    auto found = let_values_.find(var->variable.get());
    return found == let_values_.end() ? nullptr : as<Function>(found->second);
  }
  return as<Function>(callee);
}

namespace {

std::string callee_name(const Expr& callee) {
  if (const auto* global = as<GlobalVar>(callee)) return fmt::format("`{}`", global->name);
  if (const auto* var = as<Var>(callee)) return fmt::format("`{}`", var->variable->name);
  if (const auto* constructor = as<ConstructorRef>(callee))
    return fmt::format("`{}`", constructor->constructor->name);
  return "this function";
}

}  // namespace

Mismatch Inference::argument_mismatch(const Call& call, std::size_t i, const Type& found,
                                      const Type& expected) {
  Mismatch mismatch{found, expected, tail_of(call.args[i])->span,
                    fmt::format("argument {} of {}", i + 1, callee_name(call.callee))};
  const Function* function = callee_function(call.callee);
  if (!function || i >= function->params.size()) return mismatch;
  const Variable& param = *function->params[i];
  if (!param.name.empty())
    mismatch.subject = fmt::format("argument `{}` of {}", param.name, callee_name(call.callee));
  // The declaration of a function of another text (the prelude, an import) is not shown.
  if (param.type && param.span.source == mismatch.span.source) {
    mismatch.labels.push_back({param.span, fmt::format("declared as `{}`", to_string(param.type))});
  }
  return mismatch;
}

// The extents that an argument of unknown extents must have.
Type Inference::coerce_argument(const Call& call, std::size_t i, const Type& found,
                                const Type& expected) {
  TypeKind kind = solver_.head(found)->kind;
  if (kind != TypeKind::Tensor && kind != TypeKind::Tuple) return found;
  if (!has_any_dim(solver_.resolve(found))) return found;
  return coerce(&call, i, found, expected, argument_mismatch(call, i, found, expected).subject);
}

Type Inference::infer_call(const Call& call) {
  if (const auto* op = as<Operator>(call.callee)) return infer_operator_call(call, *op->op);
  Type callee = solver_.head(infer_callee(call));
  if (call.args.empty() && call.callee->kind == ExprKind::ConstructorRef &&
      callee->kind == TypeKind::Adt) {
    return callee;  // `Nil()` is `Nil`
  }
  if (const auto* var = as<VarType>(callee); var && solver_.find(*var->var)) {
    std::vector<Type> args;
    for (const Expr& arg : call.args) args.push_back(infer(arg));
    Type result = solver_.fresh_type();
    // An argument may have told what the callee is; then it is checked like any other.
    expect({callee, function_type(std::move(args), result), call.callee->span,
            callee_name(call.callee)});
    return result;
  }
  const auto* function = as<FunctionType>(callee);
  if (!function) {
    std::string name = callee_name(call.callee);
    Diagnostic diagnostic(
        DiagnosticKind::NotAFunction,
        fmt::format("{} is no function", name == "this function" ? "what is called" : name),
        call.callee->span);
    diagnostic.label(call.callee->span, fmt::format("`{}`", solver_.show(callee)));
    throw Failure(std::move(diagnostic));
  }
  if (function->params.size() != call.args.size()) {
    Diagnostic diagnostic(
        DiagnosticKind::WrongArity,
        fmt::format("{} takes {}, found {}", callee_name(call.callee),
                    count_of(function->params.size(), "argument"), call.args.size()),
        call.span);
    diagnostic.note(
        fmt::format("note: {} is `{}`", callee_name(call.callee), solver_.show(callee)));
    throw Failure(std::move(diagnostic));
  }
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    Type found = infer(call.args[i]);
    found = coerce_argument(call, i, found, function->params[i]);
    try {
      solver_.unify(found, function->params[i]);
    } catch (Failure& failure) {
      if (const Variable* param = quantified_parameter(call.callee))
        refuse_higher_rank(call, *param, found, function->params[i]);
      throw explain_mismatch(std::move(failure),
                             argument_mismatch(call, i, found, function->params[i]), solver_);
    }
  }
  if (solver_.has_woken()) relations_.drain();
  return function->result;
}

namespace {

// The value that a constant argument would have as an attribute; nothing for other arguments.
std::optional<AttrValue> attribute_from(const Expr& arg) {
  bool negated = false;
  if (const Literal* literal = as_literal(arg, negated)) {
    if (literal->is_float) return AttrValue(negated ? -literal->real : literal->real);
    return AttrValue(negated ? -literal->integer : literal->integer);
  }
  const auto* constant = as<Constant>(arg);
  if (!constant || constant->value->rank() > 1) return std::nullopt;
  const Tensor& tensor = *constant->value;
  if (tensor.rank() == 0 && tensor.dtype() == DType::Bool) return AttrValue(tensor.bits_at(0) != 0);
  if (!is_int(tensor.dtype())) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i)
    values.push_back(int_from_bits(tensor.dtype(), tensor.bits_at(i)));
  return tensor.rank() == 0 ? AttrValue(values[0]) : AttrValue::ints(values);
}

// The call with its surplus arguments written as attributes, where each fits one that is not given.
std::optional<std::string> with_named_attributes(const Call& call, const OpDef& op) {
  std::string text = std::string(call.callee->span.text()) + "(";
  std::size_t next = 0;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (i > 0) text += ", ";
    if (!call.args[i]->span) return std::nullopt;
    if (i >= op.inputs.size()) {
      std::optional<AttrValue> value = attribute_from(call.args[i]);
      if (!value || (call.attrs && !call.attrs->list.empty())) return std::nullopt;
      while (next < op.attrs.size() && !coerce_attr(op.attrs[next].kind, *value)) ++next;
      if (next == op.attrs.size()) return std::nullopt;
      text += op.attrs[next++].name + "=";
    }
    text += call.args[i]->span.text();
  }
  return text + ")";
}

Diagnostic wrong_operator_arity(const Call& call, const OpDef& op) {
  Diagnostic diagnostic(DiagnosticKind::WrongArity,
                        fmt::format("`{}` takes {}, found {}", op.name,
                                    count_of(op.inputs.size(), "argument"), call.args.size()),
                        call.span);
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
  for (const InputSpec& input : op.inputs) add(input.name);
  for (const AttrSpec& attr : op.attrs) {
    add(attr.name + "=" + (attr.default_value ? attr.default_value->to_string() : "…"));
  }
  diagnostic.note(fmt::format("note: `{}({})`", op.name, parts));
  if (call.args.size() > op.inputs.size()) {
    if (std::optional<std::string> named = with_named_attributes(call, op))
      diagnostic.note(fmt::format("help: attributes are named: `{}`", *named));
  }
  return diagnostic;
}

}  // namespace

Type Inference::infer_operator_call(const Call& call, const OpDef& op) {
  if (is_record_form(op)) return infer_record_form(call, op);
  bool negated = false;
  if (op.name == "negative" && call.args.size() == 1 && call.args[0]->kind == ExprKind::Literal &&
      !recorded(call.args[0])) {
    calls_[&call].literal = &cast<Literal>(call.args[0]);
    negated = true;
  }
  if (negated) return infer_literal(call.args[0], true);
  if (call.args.size() != op.inputs.size()) throw Failure(wrong_operator_arity(call, op));
  Relation relation;
  relation.op = &op;
  for (const Expr& arg : call.args) {
    relation.args.push_back(infer(arg));
    relation.arg_spans.push_back(arg->span);
  }
  relation.attrs = complete_attrs(op, call.attrs, call.span);
  relation.result = solver_.fresh_type();
  relation.span = call.span;
  Type result = relation.result;
  calls_[&call] = {function_type(relation.args, result), relation.attrs, nullptr};
  relations_.add(std::move(relation));
  return result;
}

}  // namespace relay::typecheck
