// Functions that take more than one primitive. Where float32 would lose digits they are computed in
// float64 and rounded once: float32 results are within 3 units in the last place.

#include "stdlib/ops/special.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/elementwise.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/scalar.h"
#include "stdlib/ops/steps.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kOneOverSqrtTwoPi = 0.39894228040143267794;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr double kLogPi = 1.14472988584940017414;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Scalar apply(Prim prim, const Scalar& x) { return build::prim(prim, {x}); }

// Steps whose values are written as scalars.
class ScalarSteps : public Steps {
 public:
  Scalar let(const char* text, const Scalar& value) { return name(text, value); }
};

// c[0] + x * (c[1] + x * (...))
template <std::size_t N>
Scalar polynomial(const Scalar& x, const std::array<double, N>& c) {
  Scalar sum = x.number(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// The definition whose element is f(x) for the float64 x, rounded to the operand's dtype.
using WideFunction = std::function<Scalar(ScalarSteps&, const Scalar& x, const DefinitionCall&)>;
lang::OpDefinition each_wide(WideFunction f) {
  return each([f = std::move(f)](const Expr& x, const DefinitionCall& call) {
    ScalarSteps steps;
    const Scalar wide = steps.let("x", cast_scalar(DType::Float64, x));
    const Scalar value = f(steps, wide, call);
    return steps.around(cast_scalar(call.tensor(0).dtype.known(), value));
  });
}

// --- erfc ---

// erfc(a) exp(a^2) (1 + 2 a) as a polynomial of (a - 3.5) / (a + 2.5), for a >= 1/2: the second one
// has the relative error 2e-10, enough for a float32.
constexpr std::array kTail = {
    1.2423492448711544,     -0.12000786868938808,    -0.024899113240521877,
    0.05674654966868328,    -0.03662799043773805,    0.01258744651905864,
    -0.0011965769207880348, -0.000884886095969791,   0.00029046482265271834,
    6.401281059707234e-05,  -4.116705546516853e-05,  -7.0718926319665815e-06,
    5.782858104219099e-06,  1.3003539675715379e-06,  -8.078129088497293e-07,
    -3.003811378258931e-07, 9.703903384482355e-08,   6.898530626704576e-08,
    -5.163266011332695e-09, -1.3851999067030131e-08, -1.7763231161650296e-09,
    2.10435714741229e-09,   6.360536689051214e-10,   -1.7601284545606011e-10,
    -7.93055628258148e-11};
constexpr std::array kShortTail = {
    1.2423492448711544,     -0.12000787077208017,  -0.024899111537234803,  0.0567466084505017,
    -0.03662803836512715,   0.01258696682202363,   -0.001196188770459036,  -0.0008831788966932109,
    0.00028910330278283946, 6.096254249522008e-05, -3.880069974088556e-05, -4.24892282897628e-06,
    3.719054068032996e-06};

// e^-square. In float32 a product of two, as no float32 has the digits of a large square; that
// needs no call of a library, so that it becomes vector code.
Scalar exp_of_minus(ScalarSteps& steps, const Scalar& square, bool is_narrow) {
  if (!is_narrow) return apply(Prim::Exp, 0.0 - square);
  const Scalar high = steps.let("high", cast_scalar(DType::Float32, square));
  const Scalar rest = square - cast_scalar(DType::Float64, high);
  return cast_scalar(DType::Float64, apply(Prim::Exp, 0.0 - high)) * (1.0 - rest);
}

// erfc(x) for a float64 x; to the digits of a float32 if `is_narrow`.
Scalar erfc_of(ScalarSteps& steps, const Scalar& x, bool is_narrow) {
  // Beyond 30 it is below the least float64.
  const Scalar a = steps.let("a", min_of(abs_of(x), x.number(30)));
  const Scalar u = steps.let("u", (a - 3.5) / (a + 2.5));
  const Scalar tail = is_narrow ? polynomial(u, kShortTail) : polynomial(u, kTail);
  const Scalar square = steps.let("square", a * a);
  const Scalar far =
      steps.let("far", exp_of_minus(steps, square, is_narrow) * tail / (1.0 + 2.0 * a));
  const Scalar erf =
      is_narrow ? cast_scalar(DType::Float64, apply(Prim::Erf, cast_scalar(DType::Float32, x)))
                : apply(Prim::Erf, x);
  const Scalar outside = choose(x < 0.0, 2.0 - far, far);
  return choose(a < 0.5, 1.0 - erf, outside);
}

bool is_narrow(const DefinitionCall& call) {
  return call.tensor(0).dtype.known() != DType::Float64;
}

void add_erfc() {
  OpDef def =
      elementwise("erfc", 0,
                  "1 - erf(x), the complement of the Gauss error function.\n"
                  "Large x keep their digits, where the difference would be 0.",
                  "erfc([0.0, 5.0])\n// expect: [1.0, 1.5374598e-12]", PrimOperands::kFloat);
  def.definition = each_wide([](ScalarSteps& steps, const Scalar& x, const DefinitionCall& call) {
    return erfc_of(steps, x, is_narrow(call));
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    return {-(call.dout * (kTwoOverSqrtPi * op("exp", {-(x * x)})))};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- The gamma function ---

// lgamma(2 + t) / t for |t| <= 1/2: 1 - Euler's constant, then (-1)^k (zeta(k) - 1) / k.
constexpr std::array kAroundTwo = {
    0.42278433509846713,     0.3224670334241132,     -0.0673523010531981,
    0.020580808427784546,    -0.007385551028673986,  0.0028905103307415234,
    -0.001192753911703261,   0.0005096695247430425,  -0.00022315475845357939,
    9.945751278180853e-05,   -4.492623673813314e-05, 2.050721277567069e-05,
    -9.439488275268397e-06,  4.374866789907488e-06,  -2.039215753801366e-06,
    9.55141213040742e-07,    -4.492469198764566e-07, 2.1207184805554665e-07,
    -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08,  -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10,  -2.7595228851242334e-10};

constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,       1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730.0, 7.0 / 6,  -3617.0 / 510};

// How many steps the argument of an asymptotic series is moved up.
constexpr int kShift = 10;

// lgamma(x) for x > 0. Around its zeros, 1 and 2, by a series that vanishes there.
Scalar positive_lgamma(ScalarSteps& steps, const Scalar& x) {
  // The nearest of 0, 1 and 2 is `base`, for x <= 2.5.
  const Scalar base = choose(x < 0.5, x.number(0), choose(x < 1.5, x.number(1), x.number(2)));
  const Scalar t = steps.let("t", min_of(x - base, x.number(0.5)));
  const Scalar around_two = t * polynomial(t, kAroundTwo);
  const Scalar around_one = around_two - apply(Prim::Log1p, t);
  const Scalar near =
      choose(x < 0.5, around_one - apply(Prim::Log, x), choose(x < 1.5, around_one, around_two));
  // Stirling's series, at x + 6 where x is small.
  const Scalar is_small = steps.let("is_small", x < 8.0);
  Scalar factors = x;
  for (int k = 1; k < 6; ++k) factors = factors * (x + k);
  const Scalar y = steps.let("y", choose(is_small, x + 6.0, x));
  const Scalar inverse = steps.let("inverse", 1.0 / y);
  std::array<double, kBernoulli.size()> series{};
  for (std::size_t k = 0; k < series.size(); ++k) {
    const double twice = 2.0 * static_cast<double>(k + 1);
    series[k] = kBernoulli[k] / (twice * (twice - 1));
  }
  const Scalar rest = inverse * polynomial(Scalar(steps.let("z", inverse * inverse)), series);
  const Scalar log = apply(Prim::Log, y);
  const Scalar stirling = steps.let("stirling", (y - 0.5) * log - y + kHalfLogTwoPi + rest);
  const Scalar above = choose(
      is_small, stirling - apply(Prim::Log, choose(is_small, factors, x.number(1))), stirling);
  return steps.let("positive", choose(x < 2.5, near, above));
}

// How far x is from the nearest integer.
Scalar off_integer(ScalarSteps& steps, const Scalar& x) {
  return steps.let("off", x - apply(Prim::Round, x));
}

Scalar lgamma_of(ScalarSteps& steps, const Scalar& x) {
  const Scalar is_negative = steps.let("is_negative", x < 0.0);
  const Scalar reflected = steps.let("reflected", choose(is_negative, 1.0 - x, x));
  const Scalar value = positive_lgamma(steps, reflected);
  const Scalar sine = abs_of(apply(Prim::Sin, kPi * off_integer(steps, x)));
  const Scalar below = kLogPi - apply(Prim::Log, sine) - value;
  const Scalar finite = choose(is_negative, below, value);
  return choose(abs_of(x) == kInf, x.number(kInf), finite);
}

void add_lgamma() {
  OpDef def = elementwise("lgamma", 0,
                          "The logarithm of the absolute value of the gamma function.\n"
                          "At 0 and the negative integers it is infinity. Its derivative is "
                          "`digamma`.",
                          "lgamma([1.0, 5.0])\n// expect: [0.0, 3.1780539]", PrimOperands::kFloat);
  def.definition = each_wide([](ScalarSteps& steps, const Scalar& x, const DefinitionCall&) {
    return lgamma_of(steps, x);
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout * op("digamma", {call.args[0]})};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// x to the power n, n >= 1, by squaring.
Scalar int_power(ScalarSteps& steps, Scalar x, std::int64_t n) {
  std::optional<Scalar> power;
  for (;; n /= 2) {
    if (n % 2 == 1) power = power ? *power * x : x;
    if (n == 1) return steps.let("power", *power);
    x = steps.let("squared", x * x);
  }
}

// The derivative of order n of digamma for x > 0: a sum of powers, and what is left of it behind
// `kShift` summands by Euler and Maclaurin.
Scalar positive_polygamma(ScalarSteps& steps, const Scalar& x, std::int64_t n) {
  const Scalar y = x + static_cast<double>(kShift);
  const Scalar inverse = steps.let("inverse", 1.0 / y);
  Scalar sum = x.number(0);
  for (int k = kShift - 1; k >= 0; --k)
    sum = sum + int_power(steps, steps.let("term", 1.0 / (x + static_cast<double>(k))), n + 1);
  // B_2j / (2j)! * (n + 1) (n + 2) ... (n + 2j - 1)
  std::array<double, kBernoulli.size()> series{};
  double factor = n == 0 ? 0.5 : static_cast<double>(n + 1) / 2;
  for (std::size_t j = 0; j < series.size(); ++j) {
    const double twice = 2.0 * static_cast<double>(j + 1);
    if (j > 0) {
      factor *= (static_cast<double>(n) + twice - 2) * (static_cast<double>(n) + twice - 1) /
                (twice * (twice - 1));
    }
    series[j] = kBernoulli[j] * factor;
  }
  const Scalar z = steps.let("z", inverse * inverse);
  const Scalar rest = z * polynomial(z, series);
  if (n == 0) return apply(Prim::Log, y) - 0.5 * inverse - rest - sum;
  const double order = static_cast<double>(n);
  const Scalar tail = int_power(steps, inverse, n) * (1.0 / order + 0.5 * inverse + rest);
  double factorial = 1;
  for (std::int64_t k = 2; k <= n; ++k) factorial *= static_cast<double>(k);
  return (n % 2 == 0 ? -factorial : factorial) * (sum + tail);
}

// The derivative of order n of cot(pi x), where c = cot(pi x): pi^n Q(c) with Q_0 = c and
// Q_k+1 = -(1 + c^2) Q_k'. All terms of Q have the same sign where c is positive.
Scalar cotangent_derivative(const Scalar& c, std::int64_t n) {
  std::vector<double> q = {0, 1};
  for (std::int64_t k = 0; k < n; ++k) {
    std::vector<double> next(q.size() + 1, 0.0);
    for (std::size_t i = 1; i < q.size(); ++i) {
      const double slope = kPi * static_cast<double>(i) * q[i];
      next[i - 1] -= slope;
      next[i + 1] -= slope;
    }
    q = std::move(next);
  }
  Scalar sum = c.number(q.back());
  for (std::size_t i = q.size() - 1; i-- > 0;) sum = sum * c + q[i];
  return sum;
}

// The derivative of order n of digamma. Below 0 by reflection at 1/2.
Scalar polygamma_of(ScalarSteps& steps, const Scalar& x, std::int64_t n) {
  const Scalar is_negative = steps.let("is_negative", x < 0.0);
  const Scalar reflected = steps.let("reflected", choose(is_negative, 1.0 - x, x));
  const Scalar value = steps.let("value", positive_polygamma(steps, reflected, n));
  const Scalar off = off_integer(steps, x);
  const Scalar angle = steps.let("angle", kPi * off);
  const Scalar cotangent =
      steps.let("cotangent", apply(Prim::Cos, angle) / apply(Prim::Sin, angle));
  const Scalar below =
      (n % 2 == 0 ? value : 0.0 - value) - kPi * cotangent_derivative(cotangent, n);
  // The odd orders go to infinity from both sides of a negative integer.
  const Scalar pole = x.number(n % 2 == 0 ? kNan : kInf);
  return choose(is_negative, choose(off == 0.0, pole, below), value);
}

void add_digamma() {
  OpDef def = elementwise("digamma", 0,
                          "The derivative of `lgamma`. Its derivatives are those of `polygamma`.\n"
                          "At 0 it is -infinity, at the negative integers NaN.",
                          "digamma(1.0)\n// expect: -0.5772157", PrimOperands::kFloat);
  def.definition = each_wide([](ScalarSteps& steps, const Scalar& x, const DefinitionCall&) {
    return polygamma_of(steps, x, 0);
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout * op("polygamma", {call.args[0]}, {{"n", 1}})};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_polygamma() {
  constexpr std::int64_t kMost = 100;  // (n + 1)! and the powers stay within float64
  OpDef def = elementwise("polygamma", 0,
                          "The derivative of order `n`, from 0 to 100, of `digamma`.\n"
                          "At 0 it is infinite; at the negative integers infinity for odd `n`, NaN "
                          "for even.",
                          "polygamma(1.0, n=1)\n// expect: 1.644934", PrimOperands::kFloat);
  def.attrs = {optional_attr("n", AttrKind::Int, 1, "the order of the derivative")};
  def.type_rule = [rule = def.type_rule](TypeCall& call) {
    const std::int64_t n = call.attrs->get_int("n");
    if (n < 0 || n > kMost)
      call.fail(DiagnosticKind::BadAttribute,
                "`n` must be from 0 to " + std::to_string(kMost) + ", found " + std::to_string(n));
    return rule(call);
  };
  def.definition = each_wide([](ScalarSteps& steps, const Scalar& x, const DefinitionCall& call) {
    return polygamma_of(steps, x, call.attrs->get_int("n"));
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const std::int64_t n = call.attrs->get_int("n");
    return {call.dout * op("polygamma", {call.args[0]}, {{"n", n + 1}})};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Activations ---

void add_gelu() {
  OpDef def = elementwise("nn.gelu", 0,
                          "x times the share of the normal distribution below x.\n"
                          "Negative x keep their digits. -infinity gives -0.0.",
                          "nn.gelu([-1.0, 0.0, 2.0])\n// expect: [-0.15865526, 0.0, 1.9544997]",
                          PrimOperands::kFloat);
  def.definition = each_wide([](ScalarSteps& steps, const Scalar& x, const DefinitionCall& call) {
    const Scalar z = steps.let("z", -kSqrtHalf * x);
    const Scalar share = 0.5 * erfc_of(steps, z, is_narrow(call));
    return choose(x == -kInf, x.number(-0.0), x * share);
  });
  // The density is 0 long before 40, where the product with an infinite x would be NaN.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& x = call.args[0];
    const Expr share = 0.5 * op("erfc", {-kSqrtHalf * x});
    const Expr limited = op("clip", {x}, {{"a_min", -40.0}, {"a_max", 40.0}});
    const Expr density = kOneOverSqrtTwoPi * op("exp", {-0.5 * (limited * limited)});
    return {call.dout * (share + limited * density)};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_silu() {
  OpDef def = elementwise("nn.silu", 0, "x times `sigmoid(x)`. -infinity gives -0.0.",
                          "nn.silu([-1.0, 0.0, 2.0])\n// expect: [-0.26894143, 0.0, 1.761594]",
                          PrimOperands::kFloat);
  def.definition = each([](const Expr& x, const DefinitionCall& call) {
    ScalarSteps steps;
    const Scalar wide = steps.let("x", widened_scalar(x));
    const Scalar value =
        choose(wide == -kInf, wide.number(-0.0), wide * apply(Prim::Sigmoid, wide));
    return steps.around(cast_scalar(call.tensor(0).dtype.known(), value));
  });
  // The slope of the sigmoid is 0 long before 1000, where the product with an infinite x would be
  // NaN.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr share = op("sigmoid", {call.args[0]});
    const Expr limited = op("clip", {call.args[0]}, {{"a_min", -1000.0}, {"a_max", 1000.0}});
    return {call.dout * (share * (1.0 + limited * (1.0 - share)))};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_softplus() {
  OpDef def = elementwise("nn.softplus", 0, "log(1 + exp(x)), without overflow for large x.",
                          "nn.softplus([0.0, 1000.0])\n// expect: [0.6931472, 1000.0]",
                          PrimOperands::kFloat);
  def.definition = each([](const Expr& x, const DefinitionCall& call) {
    ScalarSteps steps;
    const Scalar wide = steps.let("x", widened_scalar(x));
    const Scalar small = apply(Prim::Log1p, apply(Prim::Exp, 0.0 - abs_of(wide)));
    return steps.around(
        cast_scalar(call.tensor(0).dtype.known(), max_of(wide, wide.number(0)) + small));
  });
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {call.dout * op("sigmoid", {call.args[0]})};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- The angle of a point ---

// -0 is negative too: one over it is -infinity.
Scalar has_minus(const Scalar& x) { return (x < 0.0) | ((x == 0.0) & (1.0 / x < 0.0)); }

// The angle to the nearer axis, then the octant. Neither quotient overflows, and both 0 and both
// infinite have the angles that they have in C.
Scalar angle_of(ScalarSteps& steps, const Scalar& y, const Scalar& x) {
  const Scalar height = steps.let("height", abs_of(y));
  const Scalar width = steps.let("width", abs_of(x));
  const Scalar larger = steps.let("larger", max_of(height, width));
  const Scalar quotient = min_of(height, width) / choose(larger == 0.0, larger.number(1), larger);
  const Scalar slope = choose((height == kInf) & (width == kInf), larger.number(1), quotient);
  const Scalar flat = steps.let("flat", apply(Prim::Atan, slope));
  const Scalar upper = steps.let("upper", choose(height > width, 0.5 * kPi - flat, flat));
  const Scalar angle = steps.let("angle", choose(has_minus(x), kPi - upper, upper));
  return choose(has_minus(y), 0.0 - angle, angle);
}

void add_atan2() {
  OpDef def;
  def.name = "atan2";
  def.level = 0;
  def.doc =
      "The angle of the point (x, y) seen from the origin, from -pi to pi, with broadcasting.\n"
      "Of the origin itself it is 0 or pi by the sign of x; its derivative there is NaN.";
  def.example =
      "atan2([0.0, 1.0, -1.0], [1.0, 0.0, -1.0])\n// expect: [0.0, 1.5707964, -2.3561945]";
  def.inputs = {{"y", "the second coordinate"}, {"x", "the first coordinate"}};
  def.type_rule = [](TypeCall& call) { return solve_binary(call, PrimOperands::kFloat); };
  def.definition = [](const DefinitionCall& call) {
    const auto& result = *lang::as<TensorType>(call.result);
    return build::comprehension(result.shape.dims(), [&](const Indices& i) {
      ScalarSteps steps;
      const auto wide = [&](const char* name, const Expr& operand) {
        return steps.let(name, cast_scalar(DType::Float64, read_broadcast(operand, i)));
      };
      const Scalar y = wide("y", call.args[0]);
      const Scalar x = wide("x", call.args[1]);
      return steps.around(cast_scalar(result.dtype.known(), angle_of(steps, y, x)));
    });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr& y = call.args[0];
    const Expr& x = call.args[1];
    const Expr share = call.dout / (x * x + y * y);
    return {sum_to(share * x, y), sum_to(-(share * y), x)};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_special_operators() {
  add_erfc();
  add_lgamma();
  add_digamma();
  add_polygamma();
  add_gelu();
  add_silu();
  add_softplus();
  add_atan2();
}

}  // namespace relay::stdlib
