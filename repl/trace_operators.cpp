#include "repl/trace_operators.h"

#include "lang/op.h"

namespace relay::repl {

using lang::Expr;
using lang::OpDef;
using lang::Type;

namespace {

const OpDef& trace_operator(std::string_view name);

OpDef made_operator(std::string_view name, std::size_t inputs) {
  OpDef def;
  def.name = std::string(name);
  def.doc = "Tells what is computed.";
  def.level = 0;
  for (std::size_t i = 0; i < inputs; ++i) def.inputs.push_back({i == 0 ? "value" : "number", ""});
  def.attrs.push_back({"place", lang::AttrKind::Int, lang::AttrValue(0), "where"});
  def.effect = lang::Effect::Print;
  def.type_rule = [](lang::TypeCall& call) {
    call.returns(call.args[0]);
    return lang::RuleOutcome::Solved;
  };
  // What stands behind a derivative has one: nothing more is told.
  def.gradient = [](const lang::GradientCall& call) -> std::vector<Expr> {
    return {call.dout, nullptr};
  };
  def.tangent = [](const lang::TangentCall& call) { return call.tangents[0]; };
  return def;
}

OpDef made_mark(std::string_view name) {
  OpDef def = made_operator(name, 0);
  def.type_rule = [](lang::TypeCall& call) {
    call.returns(lang::unit_type());
    return lang::RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.gradient = {};
  def.tangent = {};
  return def;
}

const OpDef& trace_operator(std::string_view name) {
  static const OpDef adjoint = made_operator(kTraceAdjoint, 2);
  static const OpDef tangent = made_operator(kTraceTangent, 2);
  static const OpDef value = [] {
    OpDef def = made_operator(kTraceValue, 2);
    def.gradient = [](const lang::GradientCall& call) -> std::vector<Expr> {
      return {trace_call(kTraceAdjoint, {call.dout, call.args[1]}, call.attrs, call.dout->type),
              nullptr};
    };
    def.tangent = [](const lang::TangentCall& call) -> Expr {
      const Expr& tangent = call.tangents[0];
      if (!tangent) return nullptr;
      return trace_call(kTraceTangent, {tangent, call.args[1]}, call.attrs, tangent->type);
    };
    return def;
  }();
  static const OpDef step = [] {
    OpDef def = made_operator(kTraceStep, 1);
    def.type_rule = [](lang::TypeCall& call) {
      call.returns(lang::scalar_type(lang::DType::Int64));
      return lang::RuleOutcome::Solved;
    };
    def.differentiable = false;
    def.gradient = {};
    def.tangent = {};
    return def;
  }();
  static const OpDef mark = made_mark(kTraceMark);
  static const OpDef begin = made_mark(kTraceBegin);
  if (name == kTraceAdjoint) return adjoint;
  if (name == kTraceTangent) return tangent;
  if (name == kTraceValue) return value;
  if (name == kTraceStep) return step;
  return name == kTraceBegin ? begin : mark;
}

}  // namespace

Expr trace_call(std::string_view name, std::vector<Expr> args, const lang::AttrsRef& attrs,
                const Type& type, lang::Span span) {
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const Expr callee =
      lang::make_operator(&trace_operator(name), {}, lang::function_type(std::move(types), type));
  return lang::make_call(callee, std::move(args), attrs, span, type);
}

void bind_mark(lang::Block& block, const lang::AttrsRef& attrs, std::string_view name) {
  const lang::VariableRef unit = lang::make_variable("_", lang::unit_type());
  block.bindings.push_back({unit, trace_call(name, {}, attrs, lang::unit_type()), {}});
}

Expr bind_step(lang::Block& block, const Expr& value, const lang::AttrsRef& attrs,
               lang::Span span) {
  const Type number = lang::scalar_type(lang::DType::Int64);
  const lang::VariableRef event = lang::make_variable("event", number);
  block.bindings.push_back({event, trace_call(kTraceStep, {value}, attrs, number, span), {}});
  return lang::make_var(event);
}

bool is_dim_check(const Expr& expr) {
  const auto* call = lang::as<lang::Call>(expr);
  const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
  return op && op->op->effect == lang::Effect::CheckDims;
}

namespace {

constexpr int kIndexBits = 40;

}  // namespace

lang::AttrsRef trace_place(TracePlaceNumber place) {
  const std::int64_t number = (place.watch << kIndexBits) | static_cast<std::int64_t>(place.index);
  return lang::make_attrs({{"place", number, {}}});
}

TracePlaceNumber trace_place_of(const lang::Attrs& attrs) {
  const std::int64_t number = attrs.get_int("place");
  constexpr std::int64_t kIndex = (std::int64_t{1} << kIndexBits) - 1;
  return {number >> kIndexBits, static_cast<std::size_t>(number & kIndex)};
}

}  // namespace relay::repl
