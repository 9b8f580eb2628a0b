#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/op.h"
#include "opt/definitions.h"

// Sums and products, as operators on tensors and as primitives in index notation: one table. A rule
// says for floats whether it keeps every bit, and whether it holds of integers, which wrap.

namespace relay::opt {

using lang::as;
using lang::DType;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

const lang::Constant* scalar(const Expr& atom) {
  const auto* constant = as<lang::Constant>(atom);
  return constant && constant->value->rank() == 0 ? constant : nullptr;
}

std::optional<std::int64_t> integer(const Expr& atom) {
  const lang::Constant* const constant = scalar(atom);
  if (!constant || !lang::is_int(constant->value->dtype())) return std::nullopt;
  return lang::int_from_bits(constant->value->dtype(), constant->value->bits_at(0));
}

namespace {

// The operator that does `prim` to each element; null where there is none.
const lang::OpDef* elementwise_operator(Prim prim) {
  static const auto table = [] {
    std::array<const lang::OpDef*, 256> ops{};
    for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
      if (!op->elementwise || !op->attrs.empty()) continue;
      const lang::OpDef*& place = ops[static_cast<std::size_t>(*op->elementwise)];
      if (!place) place = op;
    }
    return ops;
  }();
  return table[static_cast<std::size_t>(prim)];
}

using Step = lang::ArithmeticStep;

bool is_whole(double value, double limit) {
  return value == std::floor(value) && std::abs(value) < limit;
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5;
}

// Counts of equal terms, and factors whose product is exact.
constexpr double kSmallCount = 64;
constexpr double kSmallFactor = 1024;
// Scaling by such a power of two is exact, where neither end of the range is near.
constexpr double kLargeFactor = 0x1p64;

// One step, as a rule sees it: its operands, and what it may be replaced by.
class Site {
 public:
  Site(const Expr& expr, const Step& step, const Rules& rules)
      : expr_(expr), step_(step), rules_(rules) {}

  const Expr& a() const { return step_.args[0]; }
  const Expr& b() const { return step_.args[1]; }
  const Expr& arg(std::size_t number) const { return step_.args[number]; }

  std::optional<Step> of(const Expr& atom) const {
    return lang::arithmetic_step(rules_.definitions.of(atom));
  }
  // The operands, if `atom` is such a step.
  const std::vector<Expr>* is(const Expr& atom, Prim prim) const {
    const auto step = of(atom);
    return step && step->prim == prim ? &step->args : nullptr;
  }
  bool is_number(const Expr& atom, double value) const {
    return rules_.definitions.is_number(atom, value);
  }
  bool is_computed(const Expr& atom) const { return !(rules_.definitions.of(atom) == atom); }

  // A constant of rank 0 of the dtype of the operands.
  static Expr constant(const Expr& like, std::int64_t value) {
    return build::constant_int(dtype_of(like), value);
  }
  // The primitive of constants; null where it has no value.
  Expr constant(Prim prim, const std::vector<Expr>& args, DType result) const {
    const auto value = evaluated(prim, args, result);
    return value ? lang::make_constant(lang::Tensor::scalar(result, *value), expr_->span) : Expr();
  }
  Expr constant(Prim prim, const std::vector<Expr>& args) const {
    return constant(prim, args, dtype_of(args[0]));
  }
  // The step `prim` of these operands, an operator or a primitive as this one is.
  Expr make(Prim prim, std::vector<Expr> args) const {
    return expr_->kind == lang::ExprKind::Primitive
               ? lang::make_primitive(prim, std::move(args))
               : build::op(elementwise_operator(prim)->name, std::move(args));
  }

  Expr folded() const;

 private:
  std::optional<std::uint64_t> evaluated(Prim prim, const std::vector<Expr>& args,
                                         DType result) const {
    std::array<std::uint64_t, 3> words{};
    if (args.size() > words.size()) return std::nullopt;
    for (std::size_t i = 0; i < args.size(); ++i)
      words[i] = lang::cast<lang::Constant>(args[i]).value->bits_at(0);
    return rules_.options.evaluate(prim, dtype_of(args.back()), result, words.data());
  }

  const Expr& expr_;
  const Step& step_;
  const Rules& rules_;
};

// A NaN stays what makes it: it has no notation of its own.
bool is_nan(const Expr& constant) {
  return std::isnan(lang::cast<lang::Constant>(constant).value->number_at(0));
}

Expr Site::folded() const {
  for (const Expr& arg : step_.args) {
    if (!scalar(arg)) return nullptr;
  }
  const Expr value = constant(step_.prim, step_.args, dtype_of(expr_));
  return value && !is_nan(value) ? value : Expr();
}

// --- The rules. Each gives the replacement of the step, or null. ---

Expr add_zero(const Site& s) {
  if (s.is_number(s.b(), 0)) return s.a();
  return s.is_number(s.a(), 0) ? s.b() : Expr();
}

Expr add_negative_zero(const Site& s) {
  if (s.is_number(s.b(), -0.0)) return s.a();
  return s.is_number(s.a(), -0.0) ? s.b() : Expr();
}

Expr add_negative(const Site& s) {
  if (const auto* inner = s.is(s.b(), Prim::Neg)) return s.make(Prim::Sub, {s.a(), (*inner)[0]});
  const auto* inner = as<lang::Constant>(s.b()) ? nullptr : s.is(s.a(), Prim::Neg);
  return inner ? s.make(Prim::Sub, {s.b(), (*inner)[0]}) : Expr();
}

Expr doubled(const Site& s, const Expr& x) { return s.make(Prim::Mul, {s.constant(x, 2), x}); }

bool is_same(const Expr& a, const Expr& b) { return a == b || same_atom(a, b); }
Expr add_same(const Site& s) { return is_same(s.a(), s.b()) ? doubled(s, s.a()) : Expr(); }

// The two orders of the operands.
std::array<std::pair<Expr, Expr>, 2> both_orders(const Site& s) {
  return {std::pair{s.a(), s.b()}, std::pair{s.b(), s.a()}};
}

// c * x, with the c.
struct Multiple {
  const lang::Constant* factor;
  Expr value;
  double count() const { return factor->value->number_at(0); }
};
std::optional<Multiple> as_multiple(const Site& s, const Expr& atom) {
  const auto* inner = s.is(atom, Prim::Mul);
  const auto* factor = inner ? scalar((*inner)[0]) : nullptr;
  return factor ? std::optional(Multiple{factor, (*inner)[1]}) : std::nullopt;
}
Expr factor_of(const Multiple& multiple) { return Expr(multiple.factor); }

// c * x + x. Doubling is exact, and so adding x rounds once, as a product by 3 does.
Expr add_multiple(const Site& s, bool (*is_good)(double)) {
  for (const auto& [product, single] : both_orders(s)) {
    const auto multiple = as_multiple(s, product);
    if (!multiple || !is_good(multiple->count()) || !same_atom(multiple->value, single)) continue;
    const Expr more = s.constant(Prim::Add, {factor_of(*multiple), s.constant(single, 1)});
    return s.make(Prim::Mul, {more, single});
  }
  return nullptr;
}
Expr add_few(const Site& s) {
  return add_multiple(s, [](double count) { return count == 1 || count == 2; });
}
Expr add_many(const Site& s) {
  return add_multiple(s, [](double count) { return is_whole(count, kSmallCount); });
}

// c * x + d * x
Expr add_multiples(const Site& s) {
  const auto one = as_multiple(s, s.a()), other = as_multiple(s, s.b());
  if (!one || !other || !same_atom(one->value, other->value)) return nullptr;
  if (!is_whole(one->count(), kSmallCount) || !is_whole(other->count(), kSmallCount))
    return nullptr;
  const Expr sum = s.constant(Prim::Add, {factor_of(*one), factor_of(*other)});
  return s.make(Prim::Mul, {sum, one->value});
}

// c * (x / c) + x % c, of integers.
Expr add_digits(const Site& s) {
  constexpr std::array kPairs = {std::pair{Prim::FloorDiv, Prim::FloorMod},
                                 std::pair{Prim::Div, Prim::Mod}};
  for (const auto& [product, digit] : both_orders(s)) {
    const auto multiple = as_multiple(s, product);
    if (!multiple || multiple->count() == 0) continue;
    const auto is_factor = [&](const Expr& divisor) {
      const auto* number = scalar(divisor);
      return number && number->value->bits_at(0) == multiple->factor->value->bits_at(0);
    };
    for (const auto& [division, remainder] : kPairs) {
      const auto* quotient = s.is(multiple->value, division);
      const auto* rest = s.is(digit, remainder);
      if (quotient && rest && same_atom((*quotient)[0], (*rest)[0]) && is_factor((*quotient)[1]) &&
          is_factor((*rest)[1]))
        return (*quotient)[0];
    }
  }
  return nullptr;
}

// (x + y) + y
Expr add_again(const Site& s) {
  for (const auto& [sum, other] : both_orders(s)) {
    const auto* inner = same_type(sum, other) ? s.is(sum, Prim::Add) : nullptr;
    if (!inner) continue;
    for (const std::size_t place : {std::size_t{1}, std::size_t{0}}) {
      if (same_atom((*inner)[place], other) && same_type((*inner)[1 - place], other))
        return s.make(Prim::Add, {(*inner)[1 - place], doubled(s, other)});
    }
  }
  return nullptr;
}

bool same_condition(const Expr& a, const Expr& b) {
  return is_same(a, b) || (a->kind == b->kind && lang::alpha_equal(a, b));
}

// Of two choices by one condition: one, where that saves an operand.
Expr add_choices(const Site& s) {
  const auto* one = s.is(s.a(), Prim::Select);
  const auto* other = s.is(s.b(), Prim::Select);
  if (!one || !other || !same_condition((*one)[0], (*other)[0])) return nullptr;
  bool saves = false;
  std::vector<Expr> args = {(*one)[0]};
  for (const std::size_t branch : {std::size_t{1}, std::size_t{2}}) {
    const Expr& x = (*one)[branch];
    const Expr& y = (*other)[branch];
    const bool is_first = s.is_number(y, 0);
    const bool is_second = !is_first && s.is_number(x, 0);
    saves = saves || is_first || is_second;
    args.push_back(is_first ? x : is_second ? y : s.make(Prim::Add, {x, y}));
  }
  return saves ? lang::make_primitive(Prim::Select, std::move(args)) : Expr();
}

// What the same condition has chosen before.
Expr choose_again(const Site& s) {
  const Expr& condition = s.a();
  for (const std::size_t branch : {std::size_t{1}, std::size_t{2}}) {
    const auto* inner = s.is(s.arg(branch), Prim::Select);
    if (!inner || !same_condition((*inner)[0], condition)) continue;
    const bool is_first = branch == 1;
    return lang::make_primitive(Prim::Select, {condition, is_first ? (*inner)[1] : s.arg(1),
                                               is_first ? s.arg(2) : (*inner)[2]});
  }
  return nullptr;
}
Expr choose_same(const Site& s) { return is_same(s.arg(1), s.arg(2)) ? s.arg(1) : Expr(); }
Expr choose_opposite(const Site& s) {
  const auto* condition = s.is(s.a(), Prim::Not);
  return condition ? lang::make_primitive(Prim::Select, {(*condition)[0], s.arg(2), s.arg(1)})
                   : Expr();
}

Expr subtract_zero(const Site& s) { return s.is_number(s.b(), 0) ? s.a() : Expr(); }
Expr subtract_negative_zero(const Site& s) { return s.is_number(s.b(), -0.0) ? s.a() : Expr(); }
Expr subtract_negative(const Site& s) {
  const auto* inner = s.is(s.b(), Prim::Neg);
  return inner ? s.make(Prim::Add, {s.a(), (*inner)[0]}) : Expr();
}
Expr subtract_from_zero(const Site& s) {
  return s.is_number(s.a(), 0) ? s.make(Prim::Neg, {s.b()}) : Expr();
}
Expr subtract_from_negative_zero(const Site& s) {
  return s.is_number(s.a(), -0.0) ? s.make(Prim::Neg, {s.b()}) : Expr();
}

Expr multiply_by_one(const Site& s) {
  if (s.is_number(s.b(), 1)) return s.a();
  return s.is_number(s.a(), 1) ? s.b() : Expr();
}
Expr constant_first(const Site& s) {
  return scalar(s.b()) && !scalar(s.a()) ? s.make(Prim::Mul, {s.b(), s.a()}) : Expr();
}
Expr multiply_negatives(const Site& s) {
  const auto* a = s.is(s.a(), Prim::Neg);
  const auto* b = s.is(s.b(), Prim::Neg);
  return a && b ? s.make(Prim::Mul, {(*a)[0], (*b)[0]}) : Expr();
}
Expr multiply_by_minus_one(const Site& s) {
  const auto* factor = scalar(s.a());
  const Expr minus_one = factor ? s.constant(s.a(), -1) : Expr();
  return factor && factor->value->bits_at(0) ==
                       lang::cast<lang::Constant>(minus_one).value->bits_at(0)
             ? s.make(Prim::Neg, {s.b()})
             : Expr();
}
Expr scale_negative(const Site& s) {
  const auto* inner = scalar(s.a()) ? s.is(s.b(), Prim::Neg) : nullptr;
  return inner ? s.make(Prim::Mul, {s.constant(Prim::Neg, {s.a()}), (*inner)[0]}) : Expr();
}

// c * (d * x)
Expr scale_multiple(const Site& s, bool (*is_good)(double c, double d)) {
  const auto* c = scalar(s.a());
  const auto inner = c ? as_multiple(s, s.b()) : std::nullopt;
  if (!inner || !is_good(c->value->number_at(0), inner->count())) return nullptr;
  const Expr product = s.constant(Prim::Mul, {s.a(), factor_of(*inner)});
  return s.make(Prim::Mul, {product, inner->value});
}
// Only `c * (d * x)` rounds: d scales up without rounding, to infinity only where c does too.
Expr scale_exactly(const Site& s) {
  return scale_multiple(s, [](double c, double d) {
    return is_power_of_two(d) && std::abs(d) >= 1 && std::abs(d) <= 4 && std::abs(c) >= 1 &&
           std::abs(c) < kSmallFactor;
  });
}
Expr scale_freely(const Site& s) {
  return scale_multiple(s, [](double c, double d) {
    const auto is_shift = [](double x) {
      return is_power_of_two(x) && std::abs(x) < kLargeFactor && std::abs(x) > 1 / kLargeFactor;
    };
    return (is_whole(c, kSmallFactor) && is_whole(d, kSmallFactor)) || is_shift(d) ||
           (is_shift(c) && d != 0);
  });
}
Expr scale_wrapping(const Site& s) {
  return scale_multiple(s, [](double, double) { return true; });
}

// c * (1 / y)
Expr scale_reciprocal(const Site& s) {
  const auto* quotient = scalar(s.a()) ? s.is(s.b(), Prim::Div) : nullptr;
  return quotient && s.is_number((*quotient)[0], 1) ? s.make(Prim::Div, {s.a(), (*quotient)[1]})
                                                    : Expr();
}
// c * (x / (d * y)), where scaling by d is exact.
Expr scale_quotient(const Site& s) {
  const auto* quotient = scalar(s.a()) ? s.is(s.b(), Prim::Div) : nullptr;
  const auto divisor = quotient ? as_multiple(s, (*quotient)[1]) : std::nullopt;
  if (!divisor || !is_power_of_two(divisor->count())) return nullptr;
  return s.make(Prim::Mul, {s.constant(Prim::Div, {s.a(), factor_of(*divisor)}),
                            s.make(Prim::Div, {(*quotient)[0], divisor->value})});
}

// `x * cos(x)`, and not `cos(x) * x`.
Expr variable_first(const Site& s) {
  const bool is_good = !scalar(s.a()) && s.is_computed(s.a()) &&
                       s.b()->kind == lang::ExprKind::Var && !s.is_computed(s.b());
  return is_good ? s.make(Prim::Mul, {s.b(), s.a()}) : Expr();
}
// Small whole numbers come out of products: `x * (2 * y)` is `2 * (x * y)`.
Expr factor_out(const Site& s) {
  if (scalar(s.a())) return nullptr;
  for (const bool is_left : {true, false}) {
    const auto inner = as_multiple(s, is_left ? s.a() : s.b());
    if (!inner || !is_whole(inner->count(), kSmallFactor)) continue;
    const Expr rest = is_left ? s.make(Prim::Mul, {inner->value, s.b()})
                              : s.make(Prim::Mul, {s.a(), inner->value});
    return s.make(Prim::Mul, {factor_of(*inner), rest});
  }
  return nullptr;
}
// x * (1 / y)
Expr multiply_reciprocal(const Site& s) {
  if (scalar(s.a())) return nullptr;
  for (const auto& [quotient, other] : {std::pair{s.b(), s.a()}, std::pair{s.a(), s.b()}}) {
    const auto* inner = s.is(quotient, Prim::Div);
    if (inner && s.is_number((*inner)[0], 1)) return s.make(Prim::Div, {other, (*inner)[1]});
  }
  return nullptr;
}
Expr multiply_negative(const Site& s) {
  if (scalar(s.a())) return nullptr;
  if (const auto* inner = s.is(s.a(), Prim::Neg))
    return s.make(Prim::Neg, {s.make(Prim::Mul, {(*inner)[0], s.b()})});
  const auto* inner = s.is(s.b(), Prim::Neg);
  return inner ? s.make(Prim::Neg, {s.make(Prim::Mul, {s.a(), (*inner)[0]})}) : Expr();
}

Expr divide_by_one(const Site& s) { return s.is_number(s.b(), 1) ? s.a() : Expr(); }
Expr divide_negative(const Site& s) {
  const auto* inner = s.is(s.a(), Prim::Neg);
  return inner ? s.make(Prim::Neg, {s.make(Prim::Div, {(*inner)[0], s.b()})}) : Expr();
}
// x / (x * y)
Expr cancel(const Site& s) {
  const auto* divisor = s.is(s.b(), Prim::Mul);
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}}) {
    if (divisor && same_atom((*divisor)[place], s.a()))
      return s.make(Prim::Div, {s.constant(s.a(), 1), (*divisor)[1 - place]});
  }
  return nullptr;
}

Expr first_power(const Site& s) { return s.is_number(s.b(), 1) ? s.a() : Expr(); }
Expr square(const Site& s) {
  return s.is_number(s.b(), 2) ? s.make(Prim::Mul, {s.a(), s.a()}) : Expr();
}

Expr negate_negative(const Site& s) {
  const auto* inner = s.is(s.a(), Prim::Neg);
  return inner ? (*inner)[0] : Expr();
}
Expr negate_multiple(const Site& s) {
  const auto inner = as_multiple(s, s.a());
  return inner ? s.make(Prim::Mul, {s.constant(Prim::Neg, {factor_of(*inner)}), inner->value})
               : Expr();
}
Expr negate_difference(const Site& s) {
  const auto* inner = s.is(s.a(), Prim::Sub);
  return inner ? s.make(Prim::Sub, {(*inner)[1], (*inner)[0]}) : Expr();
}

// What holds of floats.
enum class Floats : std::uint8_t {
  Never,
  Bits,  // it keeps every bit, also of zeros, infinities and denormals
  Made,  // the same, but is only wanted where nobody has chosen the form
  Real,  // it is true of real numbers
};
// What holds of integers, which wrap.
enum class Integers : bool { Never, Always };

struct Rule {
  std::string_view name;
  Prim prim;
  Floats floats;
  Integers integers;
  Expr (*apply)(const Site&);
};

constexpr auto kAlways = Integers::Always;
constexpr auto kNever = Integers::Never;

// The first that applies is taken.
constexpr Rule kRules[] = {
    {"x + 0", Prim::Add, Floats::Real, kAlways, add_zero},
    {"x + -0", Prim::Add, Floats::Bits, kNever, add_negative_zero},
    {"x + -y", Prim::Add, Floats::Bits, kAlways, add_negative},
    {"x + x", Prim::Add, Floats::Bits, kAlways, add_same},
    {"2 * x + x", Prim::Add, Floats::Bits, kAlways, add_few},
    {"c * x + x", Prim::Add, Floats::Real, kAlways, add_many},
    {"c * x + d * x", Prim::Add, Floats::Real, kAlways, add_multiples},
    {"c * (x / c) + x % c", Prim::Add, Floats::Never, kAlways, add_digits},
    {"x + y + y", Prim::Add, Floats::Real, kAlways, add_again},
    {"(c ? x : 0) + (c ? 0 : y)", Prim::Add, Floats::Real, kAlways, add_choices},
    {"x - 0", Prim::Sub, Floats::Bits, kAlways, subtract_zero},
    {"x - -0", Prim::Sub, Floats::Real, kNever, subtract_negative_zero},
    {"x - -y", Prim::Sub, Floats::Bits, kAlways, subtract_negative},
    {"0 - x", Prim::Sub, Floats::Real, kAlways, subtract_from_zero},
    {"-0 - x", Prim::Sub, Floats::Bits, kNever, subtract_from_negative_zero},
    {"1 * x", Prim::Mul, Floats::Bits, kAlways, multiply_by_one},
    {"x * c", Prim::Mul, Floats::Bits, kAlways, constant_first},
    {"-x * -y", Prim::Mul, Floats::Bits, kAlways, multiply_negatives},
    {"-1 * x", Prim::Mul, Floats::Bits, kAlways, multiply_by_minus_one},
    {"c * -x", Prim::Mul, Floats::Bits, kAlways, scale_negative},
    {"c * (2 * x)", Prim::Mul, Floats::Bits, kNever, scale_exactly},
    {"c * (d * x)", Prim::Mul, Floats::Real, kNever, scale_freely},
    {"c * (d * x), wrapping", Prim::Mul, Floats::Never, kAlways, scale_wrapping},
    {"c * (1 / x)", Prim::Mul, Floats::Real, kNever, scale_reciprocal},
    {"c * (x / (d * y))", Prim::Mul, Floats::Real, kNever, scale_quotient},
    {"f(x) * x", Prim::Mul, Floats::Made, kNever, variable_first},
    {"x * (c * y)", Prim::Mul, Floats::Real, kNever, factor_out},
    {"x * (1 / y)", Prim::Mul, Floats::Real, kNever, multiply_reciprocal},
    {"-x * y", Prim::Mul, Floats::Made, kNever, multiply_negative},
    {"x / 1", Prim::Div, Floats::Bits, kAlways, divide_by_one},
    {"-x / y", Prim::Div, Floats::Made, kNever, divide_negative},
    {"x / (x * y)", Prim::Div, Floats::Real, kNever, cancel},
    {"x ^ 1", Prim::Pow, Floats::Real, kAlways, first_power},
    {"x ^ 2", Prim::Pow, Floats::Real, kAlways, square},
    {"-(-x)", Prim::Neg, Floats::Bits, kAlways, negate_negative},
    {"-(c * x)", Prim::Neg, Floats::Made, kNever, negate_multiple},
    {"-(x - y)", Prim::Neg, Floats::Real, kNever, negate_difference},
    {"c ? (c ? x : y) : z", Prim::Select, Floats::Bits, kAlways, choose_again},
    {"c ? x : x", Prim::Select, Floats::Bits, kAlways, choose_same},
    {"!c ? x : y", Prim::Select, Floats::Bits, kAlways, choose_opposite},
};

bool holds(const Rule& rule, const Expr& expr, const Rules& rules) {
  const DType dtype = dtype_of(expr);
  if (lang::is_int(dtype)) return rule.integers == Integers::Always;
  if (!lang::is_float(dtype)) return false;
  switch (rule.floats) {
    case Floats::Never:
      return false;
    case Floats::Bits:
      return true;
    case Floats::Made:
    case Floats::Real:
      return rules.may_regroup(expr);
  }
  return false;
}

// The operator `where`, and the primitive: what a constant condition chooses.
Expr chosen(const Expr& expr) {
  const std::vector<Expr>* args = nullptr;
  if (const auto* call = call_of(expr, known::where)) args = &call->args;
  const auto* node = as<lang::Primitive>(expr);
  if (node && node->prim == Prim::Select) args = &node->args;
  const auto* condition = args ? scalar((*args)[0]) : nullptr;
  if (!condition) return nullptr;
  const bool truth = condition->value->number_at(0) != 0;
  return (*args)[truth ? 1 : 2];
}

}  // namespace

std::vector<std::string_view> arithmetic_rules() {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) names.push_back(rule.name);
  return names;
}

Expr simplified_arithmetic(const Expr& expr, const Rules& rules) {
  if (Expr choice = chosen(expr); choice && same_type(choice, expr)) return choice;
  const auto step = lang::arithmetic_step(expr);
  if (!step || !as<lang::TensorType>(expr->type)) return nullptr;
  const Site site(expr, *step, rules);
  if (Expr constant = site.folded(); constant && same_type(constant, expr)) return constant;
  for (const Rule& rule : kRules) {
    if (rule.prim != step->prim || !holds(rule, expr, rules)) continue;
    // What is left out may have stretched the result.
    Expr better = rule.apply(site);
    if (!better || !same_type(better, expr)) continue;
    rules.tell(rule.name);
    return better;
  }
  return nullptr;
}

}  // namespace relay::opt
