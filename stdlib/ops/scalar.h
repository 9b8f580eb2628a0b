#pragma once

#include "lang/build.h"

// Arithmetic on scalars inside index notation, so that a formula reads as it stands in a textbook.
// Each operator builds a primitive; a number takes the dtype of the other operand.
namespace relay::stdlib {

struct Scalar {
  Scalar(lang::Expr expr) : expr(std::move(expr)) {}
  operator const lang::Expr&() const { return expr; }
  lang::DType dtype() const {
    return static_cast<const lang::TensorType&>(*expr->type).dtype.known();
  }
  // The number as a constant of this dtype.
  Scalar number(double value) const {
    return lang::is_float(dtype())
               ? lang::build::constant(dtype(), value)
               : lang::build::constant_int(dtype(), static_cast<std::int64_t>(value));
  }
  lang::Expr expr;
};

inline Scalar operator+(const Scalar& a, const Scalar& b) { return lang::build::add(a, b); }
inline Scalar operator-(const Scalar& a, const Scalar& b) { return lang::build::sub(a, b); }
inline Scalar operator*(const Scalar& a, const Scalar& b) { return lang::build::mul(a, b); }
inline Scalar operator/(const Scalar& a, const Scalar& b) { return lang::build::div(a, b); }
inline Scalar operator+(const Scalar& a, double b) { return a + a.number(b); }
inline Scalar operator-(const Scalar& a, double b) { return a - a.number(b); }
inline Scalar operator*(const Scalar& a, double b) { return a * a.number(b); }
inline Scalar operator/(const Scalar& a, double b) { return a / a.number(b); }
inline Scalar operator+(double a, const Scalar& b) { return b.number(a) + b; }
inline Scalar operator-(double a, const Scalar& b) { return b.number(a) - b; }
inline Scalar operator*(double a, const Scalar& b) { return b.number(a) * b; }
inline Scalar operator/(double a, const Scalar& b) { return b.number(a) / b; }

#define RELAY_SCALAR_RELATION(sign, name)                         \
  inline Scalar operator sign(const Scalar& a, const Scalar& b) { \
    return lang::build::prim(lang::Prim::name, {a, b});           \
  }                                                               \
  inline Scalar operator sign(const Scalar& a, double b) { return a sign a.number(b); }
RELAY_SCALAR_RELATION(<, Lt)
RELAY_SCALAR_RELATION(<=, Le)
RELAY_SCALAR_RELATION(>, Gt)
RELAY_SCALAR_RELATION(>=, Ge)
RELAY_SCALAR_RELATION(==, Eq)
RELAY_SCALAR_RELATION(!=, Ne)
#undef RELAY_SCALAR_RELATION

// Of bools. Both sides are evaluated.
inline Scalar operator&(const Scalar& a, const Scalar& b) {
  return lang::build::prim(lang::Prim::And, {a, b});
}
inline Scalar operator|(const Scalar& a, const Scalar& b) {
  return lang::build::prim(lang::Prim::Or, {a, b});
}
inline Scalar not_of(const Scalar& a) { return lang::build::prim(lang::Prim::Not, {a}); }

inline Scalar min_of(const Scalar& a, const Scalar& b) {
  return lang::build::prim(lang::Prim::Min, {a, b});
}
inline Scalar max_of(const Scalar& a, const Scalar& b) {
  return lang::build::prim(lang::Prim::Max, {a, b});
}
inline Scalar floor_of(const Scalar& a) { return lang::build::prim(lang::Prim::Floor, {a}); }
inline Scalar ceil_of(const Scalar& a) { return lang::build::prim(lang::Prim::Ceil, {a}); }
inline Scalar abs_of(const Scalar& a) { return lang::build::prim(lang::Prim::Abs, {a}); }
// Division and remainder that round towards minus infinity; without effect for a divisor of 1.
inline Scalar floor_div(const Scalar& a, std::int64_t b) {
  if (b == 1) return a;
  if (const auto* known = lang::as<lang::Constant>(a.expr); known && lang::is_int(a.dtype())) {
    const auto value = static_cast<std::int64_t>(known->value->number_at(0));
    if (value >= 0 && b > 0) return a.number(static_cast<double>(value / b));
  }
  return lang::build::prim(lang::Prim::FloorDiv, {a, a.number(static_cast<double>(b))});
}
inline Scalar floor_mod(const Scalar& a, std::int64_t b) {
  return lang::build::prim(lang::Prim::FloorMod, {a, a.number(static_cast<double>(b))});
}
inline Scalar choose(const Scalar& condition, const Scalar& a, const Scalar& b) {
  return lang::build::select(condition, a, b);
}
inline Scalar cast_scalar(lang::DType dtype, const Scalar& a) {
  return lang::build::cast_to(dtype, a);
}

}  // namespace relay::stdlib
