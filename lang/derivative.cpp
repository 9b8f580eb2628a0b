#include "lang/derivative.h"

#include <array>

#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

struct Form {
  DiffMode mode;
  std::string_view name;
  bool needs_scalar_result;
  bool takes_direction;
  bool needs_tensors;
  bool takes_arguments;
  std::string_view doc;
  std::string_view example;
};

constexpr std::array kForms = {
    Form{DiffMode::Grad, "grad", true, false, false, false,
         "the gradient of a function whose result is a float scalar: a function of the same "
         "arguments; of several arguments it gives the tuple of their gradients",
         "grad(fn (x) { sum(x * x) })([1.0, 2.0])\n// expect: [2.0, 4.0]"},
    Form{DiffMode::ValueAndGrad, "value_and_grad", true, false, false, false,
         "a function that gives the result and the gradient, and computes what they share once",
         "value_and_grad(fn (x) { sum(x * x) })([1.0, 2.0])\n// expect: (5.0, [2.0, 4.0])"},
    Form{DiffMode::Vjp, "vjp", false, false, false, false,
         "a function that gives the result and its pullback, which takes the adjoint of the result "
         "and gives those of the arguments: the product of a vector with the matrix of derivatives",
         "let (y, pullback) = vjp(fn (x) { x * x })([1.0, 2.0])\n"
         "pullback([1.0, 10.0])\n// expect: [2.0, 40.0]"},
    Form{DiffMode::Jvp, "jvp", false, true, false, false,
         "a function of the arguments and, behind them, a direction of each, that gives the result "
         "and its tangent: the product of the matrix of derivatives with the direction",
         "jvp(fn (x) { x * x })([1.0, 2.0], [1.0, 0.0])\n// expect: ([1.0, 4.0], [2.0, 0.0])"},
    Form{DiffMode::Linearize, "linearize", false, false, false, true,
         "a function that gives the result and the linear map of directions to tangents there, "
         "which computes nothing again; `linearize(f, x)` is `linearize(f)(x)`",
         "let (y, along) = linearize(fn (x) { x * x }, [1.0, 2.0])\n"
         "along([1.0, 0.0])\n// expect: [2.0, 0.0]\nalong([0.0, 1.0])\n// expect: [0.0, 4.0]"},
    Form{
        DiffMode::Hvp, "hvp", true, true, false, false,
        "a function of the arguments and, behind them, a direction of each, that gives the product "
        "of the Hessian with the direction, without making the Hessian",
        "hvp(fn (x) { sum(x * x * x) })([1.0, 2.0], [1.0, 0.0])\n// expect: [6.0, 0.0]"},
    Form{DiffMode::Hessian, "hessian", true, false, true, false,
         "all second derivatives of a function whose result is a float scalar: a tensor of the "
         "shape of the argument twice; of several arguments, tuples of them",
         "hessian(fn (x) { x[0] * x[0] * x[1] })([1.0, 2.0])\n"
         "// expect: [[4.0, 2.0], [2.0, 0.0]]"},
    Form{DiffMode::Jacobian, "jacobian", false, false, true, false,
         "all derivatives of a function: a tensor of the shape of the result and then of the "
         "argument; of several results and arguments, tuples of them",
         "jacobian(fn (x) { x * x })([1.0, 2.0])\n// expect: [[2.0, 0.0], [0.0, 4.0]]"},
    Form{
        DiffMode::Transpose, "transpose", false, false, true, false,
        "the transpose of a linear function, from adjoints of its result to those of the argument; "
        "of a tensor, `transpose` is an operator",
        "let f = fn (x: Tensor[(3), float32]) { for i < 2 { x[i] - x[i + 1] } }\n"
        "transpose(f)([1.0, 10.0])\n// expect: [1.0, 9.0, -10.0]"},
    Form{DiffMode::CheckGrad, "check_grad", true, false, false, true,
         "does the gradient agree with central differences? True, or an error that names the "
         "element where they disagree; `check_grad(f, x)` is `check_grad(f)(x)`",
         "check_grad(fn (x) { sum(sin(x)) }, [1.0, 2.0])\n// expect: True"},
};

const Form& form_of(DiffMode mode) {
  for (const Form& form : kForms) {
    if (form.mode == mode) return form;
  }
  internal_error(__FILE__, __LINE__, "a derivative of an unknown mode");
}

Type one_or_tuple(const std::vector<Type>& types) {
  return types.size() == 1 ? types[0] : tuple_type(types);
}

// The derivatives of `of`, a tensor or a tuple of them, by a tensor: null without ranks.
Type by(const Type& of, const TensorType& argument) {
  if (const auto* tuple = as<TupleType>(of)) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields) {
      fields.push_back(by(field, argument));
      if (!fields.back()) return nullptr;
    }
    return tuple_type(std::move(fields));
  }
  const auto* tensor = as<TensorType>(of);
  if (!tensor || !tensor->shape.has_rank() || !argument.shape.has_rank()) return nullptr;
  std::vector<Dim> dims = tensor->shape.dims();
  dims.insert(dims.end(), argument.shape.dims().begin(), argument.shape.dims().end());
  return tensor_type(Shape(std::move(dims)), tensor->dtype);
}

// The derivatives of `of` by each of the parameters.
Type by_each(const Type& of, const std::vector<Type>& params) {
  std::vector<Type> parts;
  for (const Type& param : params) {
    const auto* tensor = as<TensorType>(param);
    parts.push_back(tensor ? by(of, *tensor) : nullptr);
    if (!parts.back()) return nullptr;
  }
  return one_or_tuple(parts);
}

Type result_of(DiffMode mode, const FunctionType& function) {
  const Type gradient = one_or_tuple(function.params);
  switch (mode) {
    case DiffMode::Grad:
    case DiffMode::Hvp:
      return gradient;
    case DiffMode::ValueAndGrad:
      return tuple_type({function.result, gradient});
    case DiffMode::Vjp:
      return tuple_type({function.result, function_type({function.result}, gradient)});
    case DiffMode::Jvp:
      return tuple_type({function.result, function.result});
    case DiffMode::Linearize:
      return tuple_type({function.result, function_type(function.params, function.result)});
    case DiffMode::Hessian: {
      std::vector<Type> rows;
      for (const Type& param : function.params) {
        rows.push_back(by_each(param, function.params));
        if (!rows.back()) return nullptr;
      }
      return one_or_tuple(rows);
    }
    case DiffMode::Jacobian: {
      const auto* results = as<TupleType>(function.result);
      if (!results) return by_each(function.result, function.params);
      std::vector<Type> rows;
      for (const Type& result : results->fields) {
        rows.push_back(by_each(result, function.params));
        if (!rows.back()) return nullptr;
      }
      return tuple_type(rows);
    }
    case DiffMode::Transpose:
      return gradient;
    case DiffMode::CheckGrad:
      return scalar_type(DType::Bool);
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(DiffMode mode) { return form_of(mode).name; }

std::optional<DiffMode> parse_diff_mode(std::string_view name) {
  for (const Form& form : kForms) {
    if (form.name == name) return form.mode;
  }
  return std::nullopt;
}

std::vector<std::string> derivative_names() {
  std::vector<std::string> names;
  for (const Form& form : kForms) {
    if (form.mode != DiffMode::Transpose) names.emplace_back(form.name);
  }
  return names;
}

std::string_view doc_of(DiffMode mode) { return form_of(mode).doc; }
std::string_view example_of(DiffMode mode) { return form_of(mode).example; }

bool needs_scalar_result(DiffMode mode) { return form_of(mode).needs_scalar_result; }
bool takes_direction(DiffMode mode) { return form_of(mode).takes_direction; }
bool needs_tensors(DiffMode mode) { return form_of(mode).needs_tensors; }
bool takes_arguments(DiffMode mode) { return form_of(mode).takes_arguments; }

Type derivative_type(DiffMode mode, const FunctionType& function) {
  Type result = result_of(mode, function);
  if (!result) return nullptr;
  if (mode == DiffMode::Transpose) return function_type({function.result}, std::move(result));
  std::vector<Type> params = function.params;
  if (takes_direction(mode))
    params.insert(params.end(), function.params.begin(), function.params.end());
  return function_type(std::move(params), std::move(result));
}

bool has_derivative(const Expr& expr) {
  bool found = false;
  visit_post_order(
      expr, [&](const Expr& node) { found = found || node->kind == ExprKind::Differentiate; });
  return found;
}

}  // namespace relay::lang
