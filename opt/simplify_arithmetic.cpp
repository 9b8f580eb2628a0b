#include <cmath>
#include <optional>

#include "lang/build.h"
#include "lang/op.h"
#include "opt/definitions.h"

// Sums and products. Exact in IEEE arithmetic, with these exceptions: `x + 0`, `-(a - b)` and
// `x - (-y)`-like rewrites may change the sign of a zero; `c*x + x` becomes `(c+1)*x` for small
// whole c (exact for c up to 2, one rounding less for larger ones); and the sums and products of
// adjoints, whose order nobody wrote, are regrouped where `x + y + y` becomes `x + 2*y`,
// `x * (3*y)` becomes `3 * (x*y)`, `x * (1/y)` becomes `x / y`, `power(x, 2)` becomes `x * x`, and
// `x / (x*y)` becomes `1 / y`.

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

Expr folded(std::string_view name, const Expr& a, const Expr& b) {
  const auto* left = as<lang::Constant>(a);
  const auto* right = as<lang::Constant>(b);
  if (!left || !right || left->value->rank() != 0 || right->value->rank() != 0) return nullptr;
  const lang::DType dtype = left->value->dtype();
  if (dtype != right->value->dtype()) return nullptr;
  // Rounding the result in float64 once more gives the one of float32: 53 bits are twice 24 and
  // more.
  if (dtype != lang::DType::Float32 && dtype != lang::DType::Float64) return nullptr;
  const double x = left->value->number_at(0);
  const double y = right->value->number_at(0);
  const double value = name == "add"        ? x + y
                       : name == "subtract" ? x - y
                       : name == "multiply" ? x * y
                       : name == "divide"   ? x / y
                                            : NAN;
  if (!std::isfinite(value)) return nullptr;
  Expr constant = build::constant(dtype, value);
  const double rounded = lang::cast<lang::Constant>(constant).value->number_at(0);
  return std::isfinite(rounded) ? constant : Expr();
}

namespace {

// Scaling by it is exact, where neither end of the range is near.
bool is_power_of_two(double value) {
  int exponent = 0;
  return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 64;
}

// What a comparison of two constants says; nothing for other operators.
std::optional<bool> compared(std::string_view name, double x, double y) {
  if (name == "equal") return x == y;
  if (name == "not_equal") return x != y;
  if (name == "less") return x < y;
  if (name == "less_equal") return x <= y;
  if (name == "greater") return x > y;
  if (name == "greater_equal") return x >= y;
  return std::nullopt;
}

bool is_whole(double value, double limit) {
  return value == std::floor(value) && std::abs(value) < limit;
}

// Counts of equal terms, and factors whose product is exact.
constexpr double kSmallCount = 64;
constexpr double kSmallFactor = 1024;

Expr doubled(const Expr& x) { return build::op("multiply", {build::scalar_like(x, 2), x}); }

class Arithmetic {
 public:
  Arithmetic(const Expr& expr, const Definitions& definitions)
      : expr_(expr), call_(lang::cast<lang::Call>(expr)), definitions_(definitions) {}

  Expr run() {
    const std::string& name = lang::cast<lang::Operator>(call_.callee).op->name;
    const auto& args = call_.args;
    if (args.size() == 2) {
      if (Expr constant = folded(name, args[0], args[1])) return constant;
      if (Expr truth = comparison(name, args[0], args[1])) return truth;
    }
    if (name == "where") return choice(args[0], args[1], args[2]);
    if (name == "add") return sum(args[0], args[1]);
    if (name == "subtract") return difference(args[0], args[1]);
    if (name == "multiply") return product(args[0], args[1]);
    if (name == "divide") return quotient(args[0], args[1]);
    if (name == "negative") return negation(args[0]);
    if (name == "power" && is_made(expr_)) return power(args[0], args[1]);
    if (name == "sum" && is_made(expr_)) {
      if (const auto* inner = is_a(args[0], "negative")) {
        const Expr sum =
            lang::make_call(call_.callee, {inner->args[0]}, call_.attrs, expr_->span, expr_->type);
        return build::op("negative", {sum});
      }
    }
    return nullptr;
  }

 private:
  const lang::Call* is_a(const Expr& atom, std::string_view name) const {
    return definitions_.call_of(atom, name);
  }

  // Of two constants of rank 0.
  Expr comparison(std::string_view name, const Expr& a, const Expr& b) const {
    const auto x = definitions_.scalar(a), y = definitions_.scalar(b);
    const auto truth = x && y ? compared(name, *x, *y) : std::nullopt;
    return truth ? build::constant(lang::DType::Bool, *truth ? 1 : 0) : Expr();
  }

  Expr choice(const Expr& condition, const Expr& yes, const Expr& no) const {
    const auto truth = definitions_.scalar(condition);
    return truth ? replaced(*truth != 0 ? yes : no) : Expr();
  }

  Expr sum(const Expr& a, const Expr& b) {
    if (leaves_sums(b, true) && same_type(expr_, a)) return a;
    if (leaves_sums(a, true) && same_type(expr_, b)) return b;
    if (const auto* inner = is_a(b, "negative")) return build::op("subtract", {a, inner->args[0]});
    if (const auto* inner = is_a(a, "negative"); inner && !as<lang::Constant>(b))
      return build::op("subtract", {b, inner->args[0]});
    if (same_atom(a, b) && as<lang::TensorType>(a->type)) return doubled(a);
    for (const auto& [one, other] : {std::pair{a, b}, {b, a}}) {
      if (Expr better = multiple(one, other)) return better;
      if (!is_made(expr_) || !same_type(one, other)) continue;
      const auto* inner = is_a(one, "add");
      if (!inner) continue;
      for (const std::size_t place : {std::size_t{1}, std::size_t{0}}) {
        if (same_atom(inner->args[place], other) && same_type(inner->args[1 - place], other))
          return build::op("add", {inner->args[1 - place], doubled(other)});
      }
    }
    return nullptr;
  }

  // A zero whose sum with, or difference from, anything is that to the last bit: 0 + -0 is 0, so of
  // floats only -0 may be added. Code that no person wrote has one zero.
  bool leaves_sums(const Expr& x, bool is_added) const {
    const auto value = definitions_.scalar(x);
    if (!value || *value != 0) return false;
    return is_made(expr_) || !lang::is_float(dtype_of(x)) || std::signbit(*value) == is_added;
  }

  // c * x + x
  Expr multiple(const Expr& product, const Expr& single) {
    const auto* inner = is_a(product, "multiply");
    const auto factor = inner ? definitions_.scalar(inner->args[0]) : std::nullopt;
    if (!factor || !is_whole(*factor, kSmallCount)) return nullptr;
    // 3 * x + x rounds twice.
    const bool is_exact =
        is_made(expr_) || !lang::is_float(dtype_of(single)) || *factor == 1 || *factor == 2;
    if (is_exact && same_atom(inner->args[1], single))
      return build::op("multiply", {build::scalar_like(single, *factor + 1), single});
    // c * x + d * x
    const auto* other = is_made(expr_) ? is_a(single, "multiply") : nullptr;
    const auto count = other ? definitions_.scalar(other->args[0]) : std::nullopt;
    if (!count || !is_whole(*count, kSmallCount) || !same_atom(inner->args[1], other->args[1]))
      return nullptr;
    return build::op("multiply",
                     {build::scalar_like(inner->args[1], *factor + *count), inner->args[1]});
  }

  Expr difference(const Expr& a, const Expr& b) {
    if (leaves_sums(b, false) && same_type(expr_, a)) return a;
    if (const auto* inner = is_a(b, "negative")) return build::op("add", {a, inner->args[0]});
    // 0 - 0 is 0, and -0 another zero.
    const bool has_one_zero = is_made(expr_) || !lang::is_float(dtype_of(b));
    if (has_one_zero && definitions_.is_number(a, 0) && same_type(expr_, b))
      return build::op("negative", {b});
    return nullptr;
  }

  Expr product(const Expr& a, const Expr& b) {
    if (definitions_.is_number(b, 1) && same_type(expr_, a)) return a;
    if (definitions_.is_number(a, 1) && same_type(expr_, b)) return b;
    const auto left = definitions_.scalar(a);
    // Constants stand on the left.
    if (definitions_.scalar(b) && !left) return build::op("multiply", {b, a});
    const auto* negative_left = is_a(a, "negative");
    const auto* negative_right = is_a(b, "negative");
    if (negative_left && negative_right)
      return build::op("multiply", {negative_left->args[0], negative_right->args[0]});
    if (left) return scaled(*left, a, b, negative_right);
    if (!is_made(expr_)) return nullptr;
    // `x * cos(x)`, and not `cos(x) * x`.
    if (is_computed(a) && b->kind == lang::ExprKind::Var && !is_computed(b))
      return build::op("multiply", {b, a});
    for (const auto& [scaled, other] : {std::pair{a, b}, {b, a}}) {
      // Small whole numbers come out of products: `x * (2 * y)` is `2 * (x * y)`.
      const auto* inner = is_a(scaled, "multiply");
      const auto factor = inner ? definitions_.scalar(inner->args[0]) : std::nullopt;
      if (!factor || !is_whole(*factor, kSmallFactor)) continue;
      const bool is_left = scaled == a;
      return build::op("multiply",
                       {inner->args[0], build::op("multiply", {is_left ? inner->args[1] : other,
                                                               is_left ? other : inner->args[1]})});
    }
    if (const auto* inner = is_a(b, "divide"); inner && definitions_.is_number(inner->args[0], 1))
      return replaced(build::op("divide", {a, inner->args[1]}));
    if (const auto* inner = is_a(a, "divide"); inner && definitions_.is_number(inner->args[0], 1))
      return replaced(build::op("divide", {b, inner->args[1]}));
    if (negative_left)
      return build::op("negative", {build::op("multiply", {negative_left->args[0], b})});
    if (negative_right)
      return build::op("negative", {build::op("multiply", {a, negative_right->args[0]})});
    return nullptr;
  }

  bool is_computed(const Expr& atom) const { return !(definitions_.of(atom) == atom); }

  // `better`, if it has the type that is wanted: what is left out may have stretched the result.
  Expr replaced(Expr better) const { return same_type(better, expr_) ? better : Expr(); }

  // c * b
  Expr scaled(double c, const Expr& a, const Expr& b, const lang::Call* negative) {
    if (c == -1) return same_type(expr_, b) ? build::op("negative", {b}) : Expr();
    if (negative) return build::op("multiply", {build::scalar_like(a, -c), negative->args[0]});
    // c * (d * x), where the product of the constants is exact: small whole numbers, powers of two.
    const auto* inner = is_a(b, "multiply");
    const auto factor = inner ? definitions_.scalar(inner->args[0]) : std::nullopt;
    const auto is_exact = [&](double d) {
      // 3 * (5 * x) rounds twice, and halves of halves twice where they are tiny.
      if (!is_made(expr_) && lang::is_float(dtype_of(b)))
        return is_power_of_two(c) && is_power_of_two(d) && std::abs(c) >= 1 && std::abs(d) >= 1;
      return (is_whole(c, kSmallFactor) && is_whole(d, kSmallFactor)) || is_power_of_two(d) ||
             (is_power_of_two(c) && d != 0);
    };
    if (factor && is_exact(*factor))
      return build::op("multiply", {build::scalar_like(a, c * *factor), inner->args[1]});
    return scaled_quotient(c, a, b);
  }

  // c * (1 / y), and c * (x / (d * y)), where scaling by d is exact.
  Expr scaled_quotient(double c, const Expr& a, const Expr& b) const {
    const auto* quotient = is_made(expr_) ? is_a(b, "divide") : nullptr;
    if (!quotient) return nullptr;
    if (definitions_.is_number(quotient->args[0], 1))
      return replaced(build::op("divide", {a, quotient->args[1]}));
    const auto* divisor = is_a(quotient->args[1], "multiply");
    const auto d = divisor ? definitions_.scalar(divisor->args[0]) : std::nullopt;
    if (!d || !is_power_of_two(*d)) return nullptr;
    const Expr rest = build::op("divide", {quotient->args[0], divisor->args[1]});
    return replaced(build::op("multiply", {build::scalar_like(a, c / *d), rest}));
  }

  Expr quotient(const Expr& a, const Expr& b) {
    if (definitions_.is_number(b, 1) && same_type(expr_, a)) return a;
    if (!is_made(expr_)) return nullptr;
    if (const auto* inner = is_a(a, "negative"))
      return build::op("negative", {build::op("divide", {inner->args[0], b})});
    // x / (x * y)
    const auto* divisor = is_a(b, "multiply");
    for (const std::size_t place : {std::size_t{0}, std::size_t{1}}) {
      if (divisor && same_atom(divisor->args[place], a))
        return replaced(build::op("divide", {build::scalar_like(a, 1), divisor->args[1 - place]}));
    }
    return nullptr;
  }

  Expr power(const Expr& x, const Expr& exponent) const {
    if (definitions_.is_number(exponent, 1)) return replaced(x);
    return definitions_.is_number(exponent, 2) ? replaced(build::op("multiply", {x, x})) : Expr();
  }

  Expr negation(const Expr& x) {
    if (const auto* inner = is_a(x, "negative")) return inner->args[0];
    if (const auto value = definitions_.scalar(x)) {
      // Integers wrap when they run, and a constant would be the nearest there is.
      const Expr constant = build::constant(dtype_of(x), -*value);
      const bool holds = lang::cast<lang::Constant>(constant).value->number_at(0) == -*value;
      if (holds && (lang::is_float(dtype_of(x)) || std::abs(*value) < 0x1p53)) return constant;
    }
    if (!is_made(expr_)) return nullptr;
    if (const auto* inner = is_a(x, "multiply")) {
      if (const auto factor = definitions_.scalar(inner->args[0]))
        return build::op("multiply",
                         {build::scalar_like(inner->args[0], -*factor), inner->args[1]});
    }
    if (const auto* inner = is_a(x, "subtract"))
      return build::op("subtract", {inner->args[1], inner->args[0]});
    return nullptr;
  }

  const Expr& expr_;
  const lang::Call& call_;
  const Definitions& definitions_;
};

}  // namespace

Expr simplified_arithmetic(const Expr& expr, const Definitions& definitions) {
  return Arithmetic(expr, definitions).run();
}

}  // namespace relay::opt
