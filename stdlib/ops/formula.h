#pragma once

#include "lang/build.h"

// Arithmetic on expressions, so that a derivative reads as it stands in a textbook. Each operator
// builds a call of the Relay operator; a number takes the dtype of the other operand.
namespace relay::stdlib {

inline lang::Expr operator+(const lang::Expr& a, const lang::Expr& b) {
  return lang::build::op("add", {a, b});
}
inline lang::Expr operator-(const lang::Expr& a, const lang::Expr& b) {
  return lang::build::op("subtract", {a, b});
}
inline lang::Expr operator*(const lang::Expr& a, const lang::Expr& b) {
  return lang::build::op("multiply", {a, b});
}
inline lang::Expr operator/(const lang::Expr& a, const lang::Expr& b) {
  return lang::build::op("divide", {a, b});
}
inline lang::Expr operator-(const lang::Expr& a) { return lang::build::op("negative", {a}); }

inline lang::Expr operator+(double a, const lang::Expr& b) {
  return lang::build::scalar_like(b, a) + b;
}
inline lang::Expr operator-(double a, const lang::Expr& b) {
  return lang::build::scalar_like(b, a) - b;
}
inline lang::Expr operator-(const lang::Expr& a, double b) {
  return a - lang::build::scalar_like(a, b);
}
inline lang::Expr operator*(double a, const lang::Expr& b) {
  return lang::build::scalar_like(b, a) * b;
}
inline lang::Expr operator/(double a, const lang::Expr& b) {
  return lang::build::scalar_like(b, a) / b;
}

// `value` where `condition` holds, else 0.
inline lang::Expr only_where(const lang::Expr& condition, const lang::Expr& value) {
  return lang::build::op("where", {condition, value, lang::build::scalar_like(value, 0)});
}

}  // namespace relay::stdlib
