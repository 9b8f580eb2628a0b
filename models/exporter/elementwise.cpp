// Operators that work element by element.
#include <array>
#include <numbers>
#include <utility>

#include "models/exporter/choose.h"
#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

using lang::DType;

struct Form {
  std::string_view name;
  std::string_view node;
};
// One node of the operands as they are.
constexpr auto kForms = std::to_array<Form>({
    {"abs", "Abs"},         {"acos", "Acos"},       {"acosh", "Acosh"},
    {"add", "Add"},         {"asin", "Asin"},       {"asinh", "Asinh"},
    {"atan", "Atan"},       {"atanh", "Atanh"},     {"cos", "Cos"},
    {"cosh", "Cosh"},       {"erf", "Erf"},         {"exp", "Exp"},
    {"fast_erf", "Erf"},    {"fast_exp", "Exp"},    {"fast_tanh", "Tanh"},
    {"log", "Log"},         {"multiply", "Mul"},    {"negative", "Neg"},
    {"power", "Pow"},       {"sigmoid", "Sigmoid"}, {"sign", "Sign"},
    {"sin", "Sin"},         {"sinh", "Sinh"},       {"sqrt", "Sqrt"},
    {"subtract", "Sub"},    {"tan", "Tan"},         {"tanh", "Tanh"},
    {"nn.relu", "Relu"},    {"equal", "Equal"},     {"nn.softplus", "Softplus"},
    {"logical_and", "And"}, {"logical_or", "Or"},   {"logical_xor", "Xor"},
    {"logical_not", "Not"}, {"divide", "Div"},
});

Value form(Call& call) {
  for (const Form& each : kForms) {
    if (each.name == call.op.name) return call.give_node(each.node);
  }
  call.unsupported("without a node");
}

bool is_float(Call& call) { return lang::is_float(call.dtype()); }

// Floats alone have parts behind the point.
template <auto& kNode>
Value rounding(Call& call) {
  return is_float(call) ? call.give_node(kNode) : call.arg(0);
}
constexpr char kFloor[] = "Floor";
constexpr char kCeil[] = "Ceil";
constexpr char kRound[] = "Round";

std::string truncated(Call& call, const std::string& x) {
  const std::string is_negative = call.node("Less", {x, call.graph.scalar(0, call.dtype())});
  return call.node("Where", {is_negative, call.node("Ceil", {x}), call.node("Floor", {x})});
}

Value trunc(Call& call) {
  return is_float(call) ? call.give(truncated(call, call.in(0))) : call.arg(0);
}

Value rsqrt(Call& call) {
  return call.give(call.node("Reciprocal", {call.node("Sqrt", {call.in(0)})}));
}

Value square(Call& call) { return call.give(call.node("Mul", {call.in(0), call.in(0)})); }

// Without the loss of what is small beside 1: tanh(x/2) (exp(x) + 1).
Value expm1(Call& call) {
  const std::string x = call.in(0);
  const DType dtype = call.dtype();
  const std::string half = call.node("Mul", {x, call.graph.scalar(0.5, dtype)});
  const std::string above = call.node("Add", {call.node("Exp", {x}), call.graph.scalar(1, dtype)});
  return call.give(call.node("Mul", {call.node("Tanh", {half}), above}));
}

// The same: near 0 the logarithm of u = 1 + x is corrected by what was lost, x / (u - 1).
Value log1p(Call& call) {
  const std::string x = call.in(0);
  const std::string one = call.graph.scalar(1, call.dtype());
  const std::string above = call.node("Add", {x, one});
  const std::string log = call.node("Log", {above});
  const std::string kept = call.node("Sub", {above, one});
  const std::string corrected = call.node("Mul", {log, call.node("Div", {x, kept})});
  const std::string is_lost = call.node("Equal", {above, one});
  const std::string near = call.node("Where", {is_lost, x, corrected});
  const std::string half = call.graph.scalar(0.5, call.dtype());
  const std::string is_near = call.node("Less", {call.node("Abs", {x}), half});
  return call.give(call.node("Where", {is_near, near, log}));
}

template <auto& kBase>
Value log_of_base(Call& call) {
  return call.give(
      call.node("Div", {call.node("Log", {call.in(0)}), call.graph.scalar(kBase, call.dtype())}));
}
constexpr double kLog2 = std::numbers::ln2;
constexpr double kLog10 = std::numbers::ln10;

Value erfc(Call& call) {
  return call.give(
      call.node("Sub", {call.graph.scalar(1, call.dtype()), call.node("Erf", {call.in(0)})}));
}

// Of truth values, which ONNX does not compare.
void count_truths(Call& call) {
  for (Value& each : call.args) {
    if (each.dtype() != DType::Bool) continue;
    each.name = cast(call, call.graph.name_of(each), DType::Int32);
    each.constant = nullptr;
    each.type = lang::tensor_type(each.tensor().shape, DType::Int32);
  }
}

template <auto& kNode>
Value comparison(Call& call) {
  count_truths(call);
  return call.give_node(kNode);
}
constexpr char kLess[] = "Less";
constexpr char kLessOrEqual[] = "LessOrEqual";
constexpr char kGreater[] = "Greater";
constexpr char kGreaterOrEqual[] = "GreaterOrEqual";

Value not_equal(Call& call) {
  return call.give(call.node("Not", {call.node("Equal", {call.in(0), call.in(1)})}));
}

template <auto& kNode, auto& kOfTruths>
Value extreme(Call& call) {
  return call.give_node(call.dtype() == DType::Bool ? kOfTruths : kNode);
}
constexpr char kMax[] = "Max";
constexpr char kMin[] = "Min";
constexpr char kAnd[] = "And";
constexpr char kOr[] = "Or";
constexpr char kXor[] = "Xor";

template <auto& kNode>
Value bitwise(Call& call) {
  if (call.dtype() != DType::Bool)
    call.unsupported("of integers: opset 17 has no operators on bits");
  return call.give_node(kNode);
}
constexpr char kNot[] = "Not";

template <auto& kDirection>
Value shift(Call& call) {
  if (!lang::is_unsigned_int(call.dtype())) call.unsupported("of integers with a sign");
  return call.give_node("BitShift", {{"direction", std::string(kDirection)}});
}
constexpr char kLeft[] = "LEFT";
constexpr char kRight[] = "RIGHT";

// With the sign of the dividend.
Value trunc_mod(Call& call) { return call.give_node("Mod", {{"fmod", std::int64_t{1}}}); }

Value floor_mod(Call& call) {
  if (!is_float(call)) return call.give_node("Mod", {{"fmod", std::int64_t{0}}});
  const std::string a = call.in(0);
  const std::string b = call.in(1);
  const std::string whole = call.node("Floor", {call.node("Div", {a, b})});
  return call.give(call.node("Sub", {a, call.node("Mul", {whole, b})}));
}

Value trunc_divide(Call& call) {
  const std::string quotient = call.node("Div", {call.in(0), call.in(1)});
  return call.give(is_float(call) ? truncated(call, quotient) : quotient);
}

Value floor_divide(Call& call) {
  const std::string a = call.in(0);
  const std::string b = call.in(1);
  if (is_float(call)) return call.give(call.node("Floor", {call.node("Div", {a, b})}));
  const std::string rest = call.node("Mod", {a, b}, {{"fmod", std::int64_t{0}}});
  return call.give(call.node("Div", {call.node("Sub", {a, rest}), b}));
}

// Integers are always finite; they equal themselves.
Value is_nan(Call& call) {
  if (is_float(call)) return call.give_node("IsNaN");
  return call.give(call.node("Not", {call.node("Equal", {call.in(0), call.in(0)})}));
}

std::string infinite(Call& call) {
  // `IsInf` takes float32 and float64 alone.
  const bool is_short = call.dtype() == DType::Float16 || call.dtype() == DType::BFloat16;
  return call.node("IsInf", {is_short ? cast(call, call.in(0), DType::Float32) : call.in(0)});
}

Value is_infinite(Call& call) { return is_float(call) ? call.give(infinite(call)) : is_nan(call); }

Value is_finite(Call& call) {
  if (!is_float(call)) return call.give(call.node("Equal", {call.in(0), call.in(0)}));
  const std::string is_nan = call.node("IsNaN", {call.in(0)});
  return call.give(call.node("Not", {call.node("Or", {is_nan, infinite(call)})}));
}

Value converted(Call& call) {
  if (call.dtype() == call.result().dtype.known()) return call.arg(0);
  return call.give(cast(call, call.in(0), call.result().dtype.known()));
}

// A number as a condition holds where it is not 0.
Value choice(Call& call) {
  std::string condition = call.in(0);
  if (call.dtype(0) != DType::Bool) condition = cast(call, condition, DType::Bool);
  return call.give(chosen(call.graph, condition, call.in(1), call.in(2), call.dtype(1)));
}

Value clip(Call& call) {
  const auto bound = [&](std::string_view key) {
    return call.graph.scalar(call.attrs->get_float(key), call.dtype());
  };
  return call.give(call.node("Clip", {call.in(0), bound("a_min"), bound("a_max")}));
}

Value leaky_relu(Call& call) {
  return call.give_node("LeakyRelu", {{"alpha", call.attrs->get_float("alpha")}});
}

// The exact one, by the error function: opset 17 has no `Gelu`.
Value gelu(Call& call) {
  const std::string x = call.in(0);
  const auto number = [&](double value) { return call.graph.scalar(value, call.dtype()); };
  const std::string erf = call.node("Erf", {call.node("Div", {x, number(std::numbers::sqrt2)})});
  const std::string factor = call.node("Add", {erf, number(1)});
  return call.give(call.node("Mul", {call.node("Mul", {x, factor}), number(0.5)}));
}

Value silu(Call& call) {
  const std::string x = call.in(0);
  return call.give(call.node("Mul", {x, call.node("Sigmoid", {x})}));
}

constexpr Operator plain(std::string_view name, std::string_view nodes) {
  return {name, &form, nodes, "", true};
}

constexpr auto kElementwise = std::to_array<Operator>({
    plain("abs", "`Abs`"),
    plain("acos", "`Acos`"),
    plain("acosh", "`Acosh`"),
    plain("add", "`Add`"),
    plain("asin", "`Asin`"),
    plain("asinh", "`Asinh`"),
    plain("atan", "`Atan`"),
    plain("atanh", "`Atanh`"),
    plain("cos", "`Cos`"),
    plain("cosh", "`Cosh`"),
    plain("divide", "`Div`"),
    plain("equal", "`Equal`"),
    plain("erf", "`Erf`"),
    plain("exp", "`Exp`"),
    plain("fast_erf", "`Erf`"),
    plain("fast_exp", "`Exp`"),
    plain("fast_tanh", "`Tanh`"),
    plain("log", "`Log`"),
    plain("logical_and", "`And`"),
    plain("logical_not", "`Not`"),
    plain("logical_or", "`Or`"),
    plain("logical_xor", "`Xor`"),
    plain("multiply", "`Mul`"),
    plain("negative", "`Neg`"),
    plain("nn.relu", "`Relu`"),
    plain("nn.softplus", "`Softplus`"),
    plain("power", "`Pow`"),
    plain("sigmoid", "`Sigmoid`"),
    plain("sign", "`Sign`"),
    plain("sin", "`Sin`"),
    plain("sinh", "`Sinh`"),
    plain("sqrt", "`Sqrt`"),
    plain("subtract", "`Sub`"),
    plain("tan", "`Tan`"),
    plain("tanh", "`Tanh`"),
    {"as_float", &converted, "`Cast`, or nothing", "", true},
    {"bitwise_and", &bitwise<kAnd>, "`And`", "truth values", true},
    {"bitwise_not", &bitwise<kNot>, "`Not`", "truth values", true},
    {"bitwise_or", &bitwise<kOr>, "`Or`", "truth values", true},
    {"bitwise_xor", &bitwise<kXor>, "`Xor`", "truth values", true},
    {"cast", &converted, "`Cast`", "", true},
    {"cast_like", &converted, "`Cast`", "", true},
    {"ceil", &rounding<kCeil>, "`Ceil`", "", true},
    {"clip", &clip, "`Clip`", "", true},
    {"erfc", &erfc, "`Sub`, `Erf`", "", true},
    {"expm1", &expm1, "`Tanh`, `Exp`, `Mul`, `Add`", "exact near 0", true},
    {"floor", &rounding<kFloor>, "`Floor`", "", true},
    {"floor_divide", &floor_divide, "`Div`, `Floor`; `Mod`, `Sub`, `Div`", "", true},
    {"floor_mod", &floor_mod, "`Mod`; `Div`, `Floor`, `Mul`, `Sub`", "", true},
    {"greater", &comparison<kGreater>, "`Greater`", "", true},
    {"greater_equal", &comparison<kGreaterOrEqual>, "`GreaterOrEqual`", "", true},
    {"isfinite", &is_finite, "`IsNaN`, `IsInf`, `Or`, `Not`", "", true},
    {"isinf", &is_infinite, "`IsInf`", "", true},
    {"isnan", &is_nan, "`IsNaN`", "", true},
    {"left_shift", &shift<kLeft>, "`BitShift`", "unsigned integers", true},
    {"less", &comparison<kLess>, "`Less`", "", true},
    {"less_equal", &comparison<kLessOrEqual>, "`LessOrEqual`", "", true},
    {"log10", &log_of_base<kLog10>, "`Log`, `Div`", "", true},
    {"log1p", &log1p, "`Log`, `Div`, `Where` and others", "exact near 0", true},
    {"log2", &log_of_base<kLog2>, "`Log`, `Div`", "", true},
    {"maximum", &extreme<kMax, kOr>, "`Max`", "", true},
    {"minimum", &extreme<kMin, kAnd>, "`Min`", "", true},
    {"mod", &trunc_mod, "`Mod`", "", true},
    {"nn.gelu", &gelu, "`Erf`, `Div`, `Add`, `Mul`", "", true},
    {"nn.leaky_relu", &leaky_relu, "`LeakyRelu`", "", true},
    {"nn.silu", &silu, "`Sigmoid`, `Mul`", "", true},
    {"not_equal", &not_equal, "`Equal`, `Not`", "", true},
    {"right_shift", &shift<kRight>, "`BitShift`", "unsigned integers", true},
    {"round", &rounding<kRound>, "`Round`", "", true},
    {"rsqrt", &rsqrt, "`Sqrt`, `Reciprocal`", "", true},
    {"square", &square, "`Mul`", "", true},
    {"trunc", &trunc, "`Ceil`, `Floor`, `Where`", "", true},
    {"trunc_divide", &trunc_divide, "`Div`", "", true},
    {"trunc_mod", &trunc_mod, "`Mod`", "", true},
    {"where", &choice, "`Where`", "", true},
});

}  // namespace

// ONNX Runtime does not choose between truth values.
std::string chosen(GraphWriter& graph, const std::string& condition, const std::string& a,
                   const std::string& b, DType dtype) {
  if (dtype != DType::Bool) return graph.node("Where", {condition, a, b});
  const std::string otherwise = graph.node("Not", {condition});
  return graph.node("Or", {graph.node("And", {condition, a}), graph.node("And", {otherwise, b})});
}

std::span<const Operator> elementwise_operators() { return kElementwise; }

}  // namespace relay::models::exporter
