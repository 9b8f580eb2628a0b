#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/expr.h"

// The forms `grad(f)`, `jvp(f)`, ...: their names, and what function each makes of a function.
//
//   grad            (A...) -> G                 G: the one A, or the tuple of them
//   value_and_grad  (A...) -> (R, G)
//   vjp             (A...) -> (R, fn (R) -> G)
//   jvp             (A..., A...) -> (R, R)      the value, and its tangent in the direction given
//   linearize       (A...) -> (R, fn (A...) -> R)
//   hvp             (A..., A...) -> G           the Hessian times a direction
//   hessian         (A...) -> second derivatives of shape A ++ A; several arguments: tuples of them
//   jacobian        (A...) -> derivatives of shape R ++ A; a tuple for several R, then several A
//   transpose       (R) -> G                    of a linear function
//   check_grad      (A...) -> bool              does the gradient agree with differences?
//
// Tangents and adjoints have the types of what they belong to; integers and booleans in them are
// ignored, and zero where they are given. Numbers without a suffix that have the dtype of the
// result are floats where they may be.
namespace relay::lang {

std::string_view name_of(DiffMode mode);  // "grad"
std::optional<DiffMode> parse_diff_mode(std::string_view name);
// Of those that are no operators, too.
std::vector<std::string> derivative_names();
// What the form gives, and a program of light notation with what it gives in `// expect:` lines.
std::string_view doc_of(DiffMode mode);
std::string_view example_of(DiffMode mode);
// Is the derivative only that of a function whose result is one float?
bool needs_scalar_result(DiffMode mode);
// Are there parameters for a direction behind those of the function?
bool takes_direction(DiffMode mode);
// Are arguments (and, of `jacobian`, results) tensors of floats only?
bool needs_tensors(DiffMode mode);
// May the arguments of what the form gives stand behind the function, `check_grad(f, x)`?
bool takes_arguments(DiffMode mode);
// Does the expression hold such a form?
bool has_derivative(const Expr& expr);
// The function that the derivative of `function` is. Null where a rank is needed and not known; not
// for functions that have no such derivative.
Type derivative_type(DiffMode mode, const FunctionType& function);

}  // namespace relay::lang
