// Operators that work element by element.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;

struct Form {
  std::string_view op;
  std::string_view text;  // of Relay: a function, an infix operator or a format
};

constexpr auto kUnary = std::to_array<Form>({
    {"Abs", "abs"},         {"Acos", "acos"},    {"Acosh", "acosh"},
    {"Asin", "asin"},       {"Asinh", "asinh"},  {"Atan", "atan"},
    {"Atanh", "atanh"},     {"Ceil", "ceil"},    {"Cos", "cos"},
    {"Cosh", "cosh"},       {"Erf", "erf"},      {"Exp", "exp"},
    {"Floor", "floor"},     {"Log", "log"},      {"Neg", "negative"},
    {"Not", "logical_not"}, {"Relu", "nn.relu"}, {"Round", "round"},
    {"Sigmoid", "sigmoid"}, {"Sign", "sign"},    {"Sin", "sin"},
    {"Sinh", "sinh"},       {"Sqrt", "sqrt"},    {"Tan", "tan"},
    {"Tanh", "tanh"},       {"IsNaN", "isnan"},  {"Softplus", "nn.softplus"},
});
constexpr auto kInfix = std::to_array<Form>({
    {"Add", "+"},
    {"Sub", "-"},
    {"Mul", "*"},
    {"Div", "/"},
    {"Equal", "=="},
    {"Less", "<"},
    {"Greater", ">"},
    {"LessOrEqual", "<="},
    {"GreaterOrEqual", ">="},
});
constexpr auto kBinary = std::to_array<Form>({
    {"And", "logical_and"},
    {"Or", "logical_or"},
    {"Xor", "logical_xor"},
});

template <std::size_t N>
std::string form_of(const std::array<Form, N>& forms, std::string_view op) {
  for (const Form& each : forms) {
    if (each.op == op) return std::string(each.text);
  }
  return {};
}

void unary(Call& call) {
  call.give(fmt::format("{}({})", form_of(kUnary, call.node.op), call.text(0)));
}
void binary(Call& call) {
  call.give(fmt::format("{}({}, {})", form_of(kBinary, call.node.op), call.text(0), call.text(1)));
}

Dim computed(std::string_view op, const Dim& a, const Dim& b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  return b.is_constant(0) ? Dim::any() : Dim::floor_div(a, b);
}

// Arithmetic over extents stays known.
bool give_elements(Call& call) {
  if (!call.has(0) || !call.has(1)) return false;
  const Value& a = call.in(0);
  const Value& b = call.in(1);
  const std::string& op = call.node.op;
  if (!a.elements || !b.elements || (a.constant && b.constant)) return false;
  if (!are_few(*a.elements) || !are_few(*b.elements)) return false;
  const std::size_t count = std::max(a.elements->size(), b.elements->size());
  const auto at = [](const Value& value, std::size_t k) {
    return (*value.elements)[value.elements->size() == 1 ? 0 : k];
  };
  if ((a.elements->size() != count && a.elements->size() != 1) ||
      (b.elements->size() != count && b.elements->size() != 1))
    return false;
  std::vector<Dim> elements;
  for (std::size_t k = 0; k < count; ++k) {
    Dim element = computed(op, at(a, k), at(b, k));
    if (element.is_any()) return false;
    elements.push_back(std::move(element));
  }
  call.give(elements_value(call.output_name(0), std::move(elements), a.rank() == 0 && b.rank() == 0,
                           a.dtype()));
  return true;
}

// An extent is never the -1 that stands for one to be left alone.
bool give_comparison(Call& call) {
  const Value& a = call.in(0);
  const Value& b = call.in(1);
  if (!a.elements || !b.elements || a.elements->size() != b.elements->size() ||
      (a.constant && b.constant))
    return false;
  auto result = lang::Tensor::make(DType::Bool, {static_cast<std::int64_t>(a.elements->size())});
  for (std::size_t k = 0; k < a.elements->size(); ++k) {
    const Dim& x = (*a.elements)[k];
    const Dim& y = (*b.elements)[k];
    const auto negative = [](const Dim& dim) { return dim.is_constant() && dim.constant() < 0; };
    const bool are_constant = x.is_constant() && y.is_constant();
    if (!are_constant && !(x == y) && !negative(x) && !negative(y)) return false;
    result->set_bits(static_cast<std::int64_t>(k), x == y);
  }
  if (a.rank() == 0) return false;
  call.give(constant_value(call.output_name(0), std::move(result)));
  return true;
}

void arithmetic(Call& call) {
  const std::string& op = call.node.op;
  const bool is_arithmetic = op == "Add" || op == "Sub" || op == "Mul" || op == "Div";
  if (is_arithmetic && give_elements(call)) return;
  if (op == "Equal" && give_comparison(call)) return;
  call.give(infix(call.text(0), form_of(kInfix, op), call.text(1)));
}

void power(Call& call) {
  const DType base = call.in(0).dtype();
  const DType exponent = call.in(1).dtype();
  if (base == exponent) {
    const auto constant = call.in(1).constant;
    if (constant && constant->element_count() == 1 && constant->rank() == 0 &&
        constant->number_at(0) == 2 && lang::is_float(base))
      return call.give(fmt::format("square({})", call.text(0)));
    return call.give(fmt::format("power({}, {})", call.text(0), call.text(1)));
  }
  const DType wide = lang::is_float(base) ? base : lang::is_float(exponent) ? exponent : base;
  call.give(cast_text(fmt::format("power({}, {})", cast_text(call.text(0), base, wide),
                                  cast_text(call.text(1), exponent, wide)),
                      wide, base));
}

void modulo(Call& call) {
  const bool is_float = lang::is_float(call.in(0).dtype());
  const bool is_c = call.integer("fmod", 0) != 0 || is_float;
  call.give(fmt::format("{}({}, {})", is_c ? "mod" : "floor_mod", call.text(0), call.text(1)));
}

void bit_shift(Call& call) {
  const std::string direction = call.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    call.bad("`direction` is neither LEFT nor RIGHT");
  call.give(fmt::format("{}_shift({}, {})", direction == "LEFT" ? "left" : "right", call.text(0),
                        call.text(1)));
}

// Max, Min, Sum, Mean of any number of operands.
void variadic(Call& call) {
  const std::string& op = call.node.op;
  std::string text = call.text(0);
  for (std::size_t k = 1; k < call.input_count(); ++k) {
    if (op == "Max" || op == "Min") {
      text = fmt::format("{}({}, {})", op == "Max" ? "maximum" : "minimum", text, call.text(k));
    } else {
      text = infix(text, "+", call.text(k));
    }
  }
  if (op == "Mean")
    text = fmt::format("({}) / {}", text, call.like(0, static_cast<double>(call.input_count())));
  if (call.input_count() == 1) return call.give(Value(call.in(0)));
  call.give(text);
}

void identity(Call& call) { call.give(Value(call.in(0))); }

void clip(Call& call) {
  std::string text = call.text(0);
  const DType dtype = call.in(0).dtype();
  std::string low, high;
  if (call.node.find<double>("min")) low = literal(call.number("min", 0), dtype);
  if (call.node.find<double>("max")) high = literal(call.number("max", 0), dtype);
  if (call.has(1)) low = call.text(1);
  if (call.has(2)) high = call.text(2);
  if (low.empty() && high.empty()) return identity(call);
  const bool are_numbers = !low.empty() && !high.empty() && dtype == DType::Float32 &&
                           low.find_first_not_of("0123456789.-e+") == std::string::npos &&
                           high.find_first_not_of("0123456789.-e+") == std::string::npos;
  if (are_numbers) return call.give(fmt::format("clip({}, a_min={}, a_max={})", text, low, high));
  if (!low.empty()) text = fmt::format("maximum({}, {})", text, low);
  if (!high.empty()) text = fmt::format("minimum({}, {})", text, high);
  call.give(text);
}

void cast(Call& call) {
  const DType to = call.node.op == "CastLike" ? call.in(1).dtype()
                                              : dtype_of_number(call, call.integer("to", 0));
  const Value& value = call.in(0);
  if (value.dtype() == to) return identity(call);
  if (value.elements && !value.constant && (to == DType::Int64 || to == DType::Int32)) {
    return call.give(elements_value(call.output_name(0), *value.elements, value.rank() == 0, to));
  }
  // A float shape that comes back as integers: what floor and the like did to it is kept apart.
  call.give(cast_text(call.text(0), value.dtype(), to));
}

void reciprocal(Call& call) { call.give(infix(call.like(0, 1), "/", call.text(0))); }

void softsign(Call& call) {
  const std::string x = call.text(0);
  call.give(fmt::format("{} / ({} + abs({}))", x, call.like(0, 1), x));
}

void is_infinite(Call& call) {
  const bool negative = call.integer("detect_negative", 1) != 0;
  const bool positive = call.integer("detect_positive", 1) != 0;
  const std::string x = call.text(0);
  if (negative && positive) return call.give(fmt::format("isinf({})", x));
  if (!negative && !positive) return call.give(fmt::format("not_equal({}, {})", x, x));
  call.give(fmt::format(
      "{} == {}", x,
      fmt::format(
          "{}{}", positive ? "" : "(-",
          positive ? literal(std::numeric_limits<double>::infinity(), call.in(0).dtype())
                   : literal(std::numeric_limits<double>::infinity(), call.in(0).dtype()) + ")")));
}

// Elu and its kin: `x` where it is above 0, else a curve.
void elu(Call& call) {
  const std::string& op = call.node.op;
  const std::string x = call.text(0);
  const double alpha = call.number("alpha", op == "Selu" ? 1.67326319217681884765625 : 1.0);
  const double gamma = op == "Selu" ? call.number("gamma", 1.05070102214813232421875) : 1.0;
  const std::string zero = call.like(0, 0);
  // The curve is asked at 0 at most, where it does not overflow.
  std::string inside = fmt::format("minimum({}, {})", x, zero);
  if (op == "Celu" && alpha != 1) inside = fmt::format("{} / {}", inside, call.like(0, alpha));
  std::string curve = fmt::format("expm1({})", inside);
  if (alpha != 1) curve = fmt::format("{} * {}", call.like(0, alpha), curve);
  std::string text = fmt::format("where({} > {}, {}, {})", x, zero, x, curve);
  if (gamma != 1) text = fmt::format("{} * {}", call.like(0, gamma), text);
  call.give(text);
}

void leaky_relu(Call& call) {
  call.give(fmt::format("nn.leaky_relu({}, alpha={})", call.text(0),
                        literal(call.number("alpha", 0.01F), DType::Float32)));
}

void thresholded_relu(Call& call) {
  const std::string x = call.text(0);
  call.give(fmt::format("where({} > {}, {}, {})", x, call.like(0, call.number("alpha", 1)), x,
                        call.like(0, 0)));
}

void hard_sigmoid(Call& call) {
  const bool is_swish = call.node.op == "HardSwish";
  const double alpha = is_swish ? 1.0 / 6 : call.number("alpha", 0.2F);
  const double beta = is_swish ? 0.5 : call.number("beta", 0.5);
  const std::string x = call.text(0);
  const std::string inner =
      fmt::format("minimum(maximum({} * {} + {}, {}), {})", call.like(0, alpha), x,
                  call.like(0, beta), call.like(0, 0), call.like(0, 1));
  call.give(is_swish ? fmt::format("{} * {}", x, inner) : inner);
}

void prelu(Call& call) {
  const std::string x = call.text(0);
  call.give(fmt::format("where({} < {}, {} * {}, {})", x, call.like(0, 0), call.text(1), x, x));
}

void shrink(Call& call) {
  const std::string x = call.text(0);
  const double lambda = call.number("lambd", 0.5);
  const double bias = call.number("bias", 0);
  call.give(fmt::format("where({0} < {1}, {0} + {2}, where({0} > {3}, {0} - {2}, {4}))", x,
                        call.like(0, -lambda), call.like(0, bias), call.like(0, lambda),
                        call.like(0, 0)));
}

void where(Call& call) {
  const Value& condition = call.in(0);
  const Value& a = call.in(1);
  const Value& b = call.in(2);
  if (condition.constant && a.elements && b.elements && a.elements->size() == b.elements->size() &&
      condition.constant->element_count() == static_cast<std::int64_t>(a.elements->size()) &&
      a.rank() == 1) {
    std::vector<Dim> elements;
    for (std::size_t k = 0; k < a.elements->size(); ++k)
      elements.push_back(condition.constant->bits_at(static_cast<std::int64_t>(k))
                             ? (*a.elements)[k]
                             : (*b.elements)[k]);
    return call.give(elements_value(call.output_name(0), std::move(elements), false, a.dtype()));
  }
  call.give(fmt::format("where({}, {}, {})", call.text(0), call.text(1), call.text(2)));
}

// Softmax, LogSoftmax and Hardmax. Before opset 13 all axes from `axis` on are one.
void softmax(Call& call) {
  const std::string& op = call.node.op;
  const std::size_t rank = call.rank(0);
  const bool joins = call.opset() < 13;
  const std::size_t axis =
      call.axis(call.integer("axis", joins ? 1 : -1), std::max<std::size_t>(rank, 1));
  std::string x = call.text(0);
  const bool is_joined = joins && axis + 1 < rank;
  if (is_joined) {
    std::vector<Dim> shape(call.in(0).dims().begin(),
                           call.in(0).dims().begin() + static_cast<std::ptrdiff_t>(axis));
    shape.push_back(element_count(
        {call.in(0).dims().begin() + static_cast<std::ptrdiff_t>(axis), call.in(0).dims().end()}));
    x = reshaped(call, "rows", call.in(0), shape).text;
  }
  const std::int64_t at = is_joined ? -1 : axis + 1 == rank ? -1 : static_cast<std::int64_t>(axis);
  std::string text;
  if (op == "Hardmax") {
    const std::string depth = is_joined || !call.in(0).dims()[axis].is_constant()
                                  ? fmt::format("dim_of({}, axis={})", x, is_joined ? axis : axis)
                                  : call.in(0).dims()[axis].to_string();
    text = fmt::format("one_hot(argmax({}, axis={}), {}, {}, depth={}, axis={}, dtype={})", x, at,
                       call.like(0, 1), call.like(0, 0), depth, at, dtype_text(call.in(0).dtype()));
  } else {
    text = fmt::format("nn.{}({}, axis={})", op == "Softmax" ? "softmax" : "log_softmax", x, at);
  }
  if (!is_joined) return call.give(text);
  call.give(reshaped(call, call.hint(), call.let("scores", text), call.in(0).dims()));
}

constexpr auto kElementwiseOperators = std::to_array<Operator>({
    {"Abs", &unary, ""},
    {"Acos", &unary, ""},
    {"Acosh", &unary, ""},
    {"Asin", &unary, ""},
    {"Asinh", &unary, ""},
    {"Atan", &unary, ""},
    {"Atanh", &unary, ""},
    {"Ceil", &unary, ""},
    {"Cos", &unary, ""},
    {"Cosh", &unary, ""},
    {"Erf", &unary, ""},
    {"Exp", &unary, ""},
    {"Floor", &unary, ""},
    {"Log", &unary, ""},
    {"Neg", &unary, ""},
    {"Not", &unary, ""},
    {"Relu", &unary, ""},
    {"Round", &unary, ""},
    {"Sigmoid", &unary, ""},
    {"Sign", &unary, ""},
    {"Sin", &unary, ""},
    {"Sinh", &unary, ""},
    {"Sqrt", &unary, ""},
    {"Tan", &unary, ""},
    {"Tanh", &unary, ""},
    {"IsNaN", &unary, ""},
    {"Softplus", &unary, ""},
    {"Add", &arithmetic, ""},
    {"Sub", &arithmetic, ""},
    {"Mul", &arithmetic, ""},
    {"Div", &arithmetic, "integers drop the fraction"},
    {"Equal", &arithmetic, ""},
    {"Less", &arithmetic, ""},
    {"Greater", &arithmetic, ""},
    {"LessOrEqual", &arithmetic, ""},
    {"GreaterOrEqual", &arithmetic, ""},
    {"And", &binary, ""},
    {"Or", &binary, ""},
    {"Xor", &binary, ""},
    {"Pow", &power, "operands of two dtypes too"},
    {"Mod", &modulo, ""},
    {"BitShift", &bit_shift, ""},
    {"Max", &variadic, ""},
    {"Min", &variadic, ""},
    {"Sum", &variadic, ""},
    {"Mean", &variadic, ""},
    {"Identity", &identity, "gives no line"},
    {"Clip", &clip, ""},
    {"Cast", &cast, "no strings"},
    {"CastLike", &cast, "no strings"},
    {"Reciprocal", &reciprocal, ""},
    {"Softsign", &softsign, ""},
    {"IsInf", &is_infinite, ""},
    {"Elu", &elu, ""},
    {"Selu", &elu, ""},
    {"Celu", &elu, ""},
    {"LeakyRelu", &leaky_relu, ""},
    {"ThresholdedRelu", &thresholded_relu, ""},
    {"HardSigmoid", &hard_sigmoid, ""},
    {"HardSwish", &hard_sigmoid, ""},
    {"PRelu", &prelu, ""},
    {"Shrink", &shrink, ""},
    {"Where", &where, ""},
    {"Softmax", &softmax, "before opset 13 over all axes from `axis` on"},
    {"LogSoftmax", &softmax, "before opset 13 over all axes from `axis` on"},
    {"Hardmax", &softmax, "before opset 13 over all axes from `axis` on"},
});

}  // namespace

std::span<const Operator> elementwise_operators() { return kElementwiseOperators; }

}  // namespace relay::models::onnx
