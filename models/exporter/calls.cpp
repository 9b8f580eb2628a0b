// Calls: of functions, whose code is gone through where they are called, and of operators.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "interp/scalar.h"
#include "lang/stop.h"
#include "models/exporter/exporter.h"
#include "models/exporter/loop_form.h"
#include "models/exporter/operators.h"
#include "models/exporter/pass_through.h"

namespace relay::models::exporter {

using lang::DiagnosticKind;
using lang::Expr;

namespace {

constexpr std::size_t kMostCalls = 400;  // of one function inside of each other

std::vector<lang::Type> types_of(const std::vector<Value>& values) {
  std::vector<lang::Type> types;
  types.reserve(values.size());
  for (const Value& each : values) types.push_back(each.type);
  return types;
}

bool any_lost(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& v) { return v.is_lost(); });
}

// Does it, or a part of it, have lanes?
bool has_lanes(const Value& value) {
  return value.has_lanes() || std::any_of(value.fields.begin(), value.fields.end(), &has_lanes);
}

}  // namespace

Value Exporter::call(const lang::Call& call, const Expr& expr, ScopeRef scope) {
  const Value callee = value_of(call.callee, scope);
  std::vector<Value> args;
  for (const Expr& each : call.args) args.push_back(value_of(each, scope));
  if (callee.is_lost() || any_lost(args)) return lost_value();
  return apply(callee, std::move(args), call.attrs, expr->type);
}

Value Exporter::apply(const Value& callee, std::vector<Value> args, const lang::AttrsRef& attrs,
                      const lang::Type& type) {
  if (callee.kind != Value::Kind::Function)
    lang::fail(DiagnosticKind::Unsupported, "not supported in ONNX: a function that is not known");
  if (const auto* op = lang::as<lang::Operator>(callee.function))
    return apply_operator(*op->op, std::move(args), attrs, type);
  if (const auto* made = lang::as<lang::ConstructorRef>(callee.function))
    return fields_value(std::move(args), type, made->constructor);
  if (const auto* global = lang::as<lang::GlobalVar>(callee.function)) {
    const Expr code = program_.code_of(*global);
    if (!code)
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported in ONNX: the value `{}` as a function", global->name));
    kept_.push_back(code);
    return apply_function(callee, code, nullptr, std::move(args));
  }
  return apply_function(callee, callee.function, callee.captured, std::move(args));
}

Value Exporter::apply_function(const Value& callee, const Expr& given, ScopeRef captured,
                               std::vector<Value> args) {
  lang::poll();
  Expr code = given;
  const auto* global = lang::as<lang::GlobalVar>(callee.function);
  if (!global && !lang::cast<lang::Function>(given).type_params.empty()) {
    code = with_extents_of(given, types_of(args));
    kept_.push_back(code);
  }
  const auto& function = lang::cast<lang::Function>(code);
  const Active self{callee.function.get(), global ? global->name : std::string(), branches_};
  std::size_t depth = 0;
  for (const Active& each : active_) {
    if (global ? each.name != self.name : each.code != self.code) continue;
    ++depth;
    if (each.branches == branches_ && depth < kMostCalls) continue;
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported in ONNX: recursion: {} calls itself {}",
                           global ? fmt::format("`{}`", global->name) : "a function",
                           depth < kMostCalls ? "as often as data say, and is no loop: "
                                                "`if c { result } else { f(…) }`"
                                              : fmt::format("more than {} times", kMostCalls)));
  }
  active_.push_back(self);
  Value result;
  if (const auto form = LoopForm::find(function, callee); form && lanes_.empty()) {
    result = loop(*form, function, captured, std::move(args));
  } else {
    Scope* const own = scope(captured);
    for (std::size_t k = 0; k < args.size(); ++k)
      own->variables[function.params[k].get()] = std::move(args[k]);
    result = value_of(function.body, own);
  }
  active_.pop_back();
  return result;
}

// Arithmetic of numbers that are known is carried out: it decides branches.
Value Exporter::folded(const lang::OpDef& op, const std::vector<Value>& args,
                       const lang::Type& type) {
  if (!op.elementwise || args.empty() || args.size() > 3) return lost_value();
  const auto* tensor = lang::as<lang::TensorType>(type);
  std::uint64_t bits[3] = {};
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (!args[k].constant || args[k].rank() != 0) return lost_value();
    bits[k] = args[k].constant->bits_at(0);
  }
  const auto result =
      interp::scalar_value(*op.elementwise, args.back().dtype(), tensor->dtype.known(), bits);
  if (!result) return lost_value();
  return constant_value(lang::Tensor::scalar(tensor->dtype.known(), *result), "");
}

Value Exporter::apply_operator(const lang::OpDef& op, std::vector<Value> args,
                               const lang::AttrsRef& attrs, const lang::Type& type) {
  if (is_passed_through(op)) {
    Value value = args.at(0);
    if (value.is_tensor() && lang::as<lang::TensorType>(type)) value.type = type;
    return value;
  }
  if (op.effect != lang::Effect::None)
    lang::fail(
        DiagnosticKind::Unsupported,
        op.effect == lang::Effect::Load
            ? "not supported in ONNX: `load` inside of a function; bind it by a `let` of the file"
            : fmt::format("not supported in ONNX: the effect of `{}`", op.name));
  if (Value value = folded(op, args, type); !value.is_lost()) return value;
  const Operator* known = find_operator(op.name);
  const bool has_any = std::any_of(args.begin(), args.end(), &has_lanes);
  if (!known || (has_any && !known->is_elementwise)) return by_definition(op, args, attrs, type);
  const std::optional<Affine> affine = affine_of(op, args);
  Call call{graph_, op, std::move(args), attrs, type};
  for (Value& each : call.args) materialise(each);
  if (known->is_elementwise) {
    call.full = align(call.args);
    call.depth = call.full.size();
  }
  try {
    Value value = known->build(call);
    value.affine = affine;
    return value;
  } catch (const lang::Failure& failure) {
    if (known->is_elementwise || !op.definition) throw;
    // What its node cannot do, index notation may.
    try {
      return by_definition(op, call.args, attrs, type);
    } catch (const lang::Failure&) {
      throw failure;
    }
  }
}

Value Exporter::primitive(const lang::Primitive& primitive, const lang::Type& type,
                          ScopeRef scope) {
  std::vector<Value> args;
  for (const Expr& each : primitive.args) args.push_back(value_of(each, scope));
  if (any_lost(args)) return lost_value();
  const lang::OpDef* op = operator_of(primitive.prim);
  if (!op)
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported in ONNX: `{}` of single elements",
                           lang::info(primitive.prim).text));
  lang::AttrsRef attrs = lang::make_attrs({});
  if (primitive.prim == lang::Prim::Cast)
    attrs = lang::make_attrs({{"dtype", lang::as<lang::TensorType>(type)->dtype.known()}});
  return apply_operator(*op, std::move(args), attrs, type);
}

// What an operator that the table has not, or has for whole tensors only, is made of: index
// notation.
Value Exporter::by_definition(const lang::OpDef& op, const std::vector<Value>& args,
                              const lang::AttrsRef& attrs, const lang::Type& type) {
  Scope* const own = scope(nullptr);
  lang::DefinitionCall call{{}, attrs, type};
  for (const Value& each : args) {
    const auto variable = lang::make_variable("operand", each.type);
    own->variables[variable.get()] = each;
    call.args.push_back(lang::make_var(variable));
    kept_.push_back(call.args.back());
  }
  std::optional<Expr> definition;
  if (op.definition) definition = lang::definition_at(op, call, lang::Algebra::Bits);
  if (!definition)
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported in ONNX: the operator `{}`", op.name));
  kept_.push_back(*definition);
  const std::size_t before = errors_.size();
  Value value = value_of(*definition, own);
  // Whoever wrote the call knows of no index notation inside of it.
  if (errors_.size() == before) return value;
  const std::string why = errors_[before].message;
  errors_.resize(before);
  constexpr std::string_view kPrefix = "not supported in ONNX: ";
  lang::fail(DiagnosticKind::Unsupported,
             fmt::format("not supported in ONNX: the operator `{}`, which is made of {}", op.name,
                         why.starts_with(kPrefix) ? why.substr(kPrefix.size()) : why));
}

}  // namespace relay::models::exporter
