#include "interp/tangents.h"

#include <fmt/format.h>

#include "interp/prepare.h"
#include "interp/profile.h"
#include "interp/scalar.h"
#include "lang/build.h"
#include "lang/expr.h"

namespace relay::interp {

using lang::Expr;
using lang::Value;
using lang::ValueKind;

namespace {

enum class Mode { Reverse, Forward };

// fn (x...) { C(x...) }, for its derivative of that type.
Expr constructor_literal(const lang::Constructor& constructor, const lang::Type& type, Mode mode) {
  const auto& derived = *lang::as<lang::FunctionType>(type);
  const lang::Type result = lang::as<lang::TupleType>(derived.result)->fields[0];
  std::vector<lang::Type> types = derived.params;
  if (mode == Mode::Forward) {  // its own tangent, the arguments, their tangents, the walk
    types.erase(types.begin());
    types.pop_back();
    types.resize(types.size() / 2);
  }
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  for (const lang::Type& param : types) {
    params.push_back(lang::make_variable("x", param));
    args.push_back(lang::make_var(params.back()));
  }
  const lang::Type own = lang::function_type(std::move(types), result);
  const Expr body = lang::make_call(lang::make_constructor_ref(&constructor, {}, own),
                                    std::move(args), nullptr, {}, result);
  return lang::make_function(std::move(params), result, body, {}, nullptr, {}, own);
}

FunctionCodeRef derive(Machine& machine, const Expr& literal, const lang::VariableRef& self,
                       const std::vector<lang::VariableRef>& captured, const std::string& name,
                       Mode mode, lang::Span span) {
  const Profile::Scope scope(Profile::kMakingCode);
  auto derived = mode == Mode::Reverse ? machine.host.with_pullback(literal, self)
                                       : machine.host.with_tangent(literal, self);
  if (derived) return prepare_closure(name, *derived, captured);
  lang::Diagnostic first = derived.errors().front();
  if (!first.span) first.span = span;
  machine.fail(std::move(first));
  return {};
}

Value closure_of(const FunctionCodeRef& code, std::vector<Value> captures) {
  auto* closure = new Closure;
  closure->code = code;
  closure->captures = std::move(captures);
  return Value::closure(lang::Ref<lang::ClosureCell>(closure));
}

Value sum(const Value& a, const Value& b) {
  const ScalarFunction add = scalar_function(lang::Prim::Add, a.dtype());
  const std::uint64_t args[] = {a.bits(), b.bits()};
  return Value::scalar(a.dtype(), add(args));
}

Value sum(const lang::Tensor& a, const lang::Tensor& b) {
  lang::TensorRef result = lang::Tensor::make(a.dtype(), a.shape());
  const ScalarFunction add = scalar_function(lang::Prim::Add, a.dtype());
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    const std::uint64_t args[] = {a.bits_at(i), b.bits_at(i)};
    result->set_bits(i, add(args));
  }
  return Value::tensor(std::move(result));
}

std::vector<Value> sums(std::span<Value> a, std::span<Value> b) {
  std::vector<Value> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(add_tangents(a[i], b[i]));
  return result;
}

// Of a constructor as a function value; else null.
const lang::Constructor* constructor_of(const Value& function) {
  if (function.kind() == ValueKind::Constructor) return &function.as_constructor();
  if (function.kind() != ValueKind::Closure) return nullptr;
  return static_cast<const Closure&>(function.as_closure()).code->constructor;
}

Value derivative(Machine& machine, const Value& function, const lang::Type& type, Mode mode,
                 lang::Span span) {
  if (const lang::Constructor* const constructor = constructor_of(function)) {
    const Expr literal = constructor_literal(*constructor, type, mode);
    const FunctionCodeRef code = derive(machine, literal, nullptr, {}, "constructor", mode, span);
    return code ? closure_of(code, {}) : Value();
  }
  if (function.kind() != ValueKind::Closure)
    return machine.fail(lang::DiagnosticKind::NotAFunction, "the callee is not a function", span);
  const auto& closure = static_cast<const Closure&>(function.as_closure());
  const FunctionCode& code = *closure.code;
  FunctionCodeRef& known = mode == Mode::Reverse ? code.with_pullback : code.with_tangent;
  if (!known) {
    known = derive(machine, code.source, code.self, code.captured, code.name, mode, span);
    if (!known) return {};
  }
  return closure_of(known, closure.captures);
}

}  // namespace

Value with_pullback(Machine& machine, const Value& function, const lang::Type& type,
                    lang::Span span) {
  return derivative(machine, function, type, Mode::Reverse, span);
}

Value with_tangent(Machine& machine, const Value& function, const lang::Type& type,
                   lang::Span span) {
  return derivative(machine, function, type, Mode::Forward, span);
}

Value add_tangents(const Value& a, const Value& b) {
  switch (a.kind()) {
    case ValueKind::Scalar:
      return sum(a, b);
    case ValueKind::Tensor:
      return sum(a.as_tensor(), b.as_tensor());
    case ValueKind::Tuple: {
      std::vector<Value> fields = sums(a.as_tuple().fields(), b.as_tuple().fields());
      return fields.empty() ? Value::unit() : Value::tuple(lang::TupleCell::make(fields));
    }
    case ValueKind::Adt: {
      // Zero is the first constructor of a mirror, and none but it has that tag.
      if (a.as_adt().tag() == 0) return b;
      if (b.as_adt().tag() == 0) return a;
      RELAY_CHECK(a.as_adt().tag() == b.as_adt().tag(),
                  "adjoints of one value are made by one constructor");
      std::vector<Value> fields = sums(a.as_adt().fields(), b.as_adt().fields());
      return Value::adt(lang::AdtCell::make(&a.as_adt().constructor(), fields));
    }
    default:
      RELAY_CHECK(false, "a tangent is made of tensors, tuples and data");
      return {};
  }
}

namespace {

// Of a mirror, that of the primal.
std::string plain_name(const lang::Constructor& constructor) {
  const std::string prefix = constructor.owner->name + "_";
  return constructor.name.starts_with(prefix) ? constructor.name.substr(prefix.size())
                                              : constructor.name;
}

}  // namespace

std::optional<std::string> misfit(const Value& given, const Value& value) {
  std::vector<std::pair<const Value*, const Value*>> open = {{&given, &value}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    const bool is_data = left->kind() == ValueKind::Adt;
    if (!is_data && left->kind() != ValueKind::Tuple) continue;
    if (is_data && left->as_adt().tag() != right->as_adt().tag()) {
      return fmt::format(
          "an adjoint or a tangent has the constructors of its value: expected `{}`, found `{}`",
          plain_name(right->as_adt().constructor()), plain_name(left->as_adt().constructor()));
    }
    const auto parts = is_data ? left->as_adt().fields() : left->as_tuple().fields();
    const auto others = is_data ? right->as_adt().fields() : right->as_tuple().fields();
    for (std::size_t i = parts.size(); i-- > 0;) open.emplace_back(&parts[i], &others[i]);
  }
  return std::nullopt;
}

}  // namespace relay::interp
