// Gradients of the rows of the table against central differences.

#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/tensor.h"
#include "tests/oracle/check.h"

namespace relay::tests {
namespace {

using lang::DType;
using lang::Result;
using lang::Value;

constexpr double kStep = 1e-5;

// One tensor within an argument, and the projections that lead to it.
struct Leaf {
  std::size_t argument;
  std::vector<std::size_t> path;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::string text() const {
    std::string text;
    for (const std::size_t field : path) text += fmt::format(".{}", field);
    return text;
  }
};

void collect(const Value& value, Leaf at, std::vector<Leaf>& leaves) {
  if (value.kind() == lang::ValueKind::Tuple) {
    for (std::size_t i = 0; i < value.as_tuple().fields().size(); ++i) {
      Leaf next = at;
      next.path.push_back(i);
      collect(value.as_tuple().fields()[i], next, leaves);
    }
    return;
  }
  at.dtype = value.is_scalar() ? value.dtype() : value.as_tensor().dtype();
  if (value.is_tensor()) at.shape = value.as_tensor().shape();
  leaves.push_back(at);
}

std::vector<Leaf> leaves_of(const std::vector<Value>& values) {
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < values.size(); ++i) collect(values[i], {i, {}, {}, {}}, leaves);
  return leaves;
}

Value field_at(Value value, const std::vector<std::size_t>& path) {
  for (const std::size_t field : path) value = value.as_tuple().fields()[field];
  return value;
}

Value with_field(const Value& value, std::span<const std::size_t> path, const Value& leaf) {
  if (path.empty()) return leaf;
  const auto old = value.as_tuple().fields();
  std::vector<Value> fields(old.begin(), old.end());
  fields[path[0]] = with_field(fields[path[0]], path.subspan(1), leaf);
  return Value::tuple(lang::TupleCell::make(fields));
}

std::int64_t count_of(const Leaf& leaf) {
  std::int64_t count = 1;
  for (const std::int64_t extent : leaf.shape) count *= extent;
  return count;
}

double element(const Value& value, std::int64_t i) { return value.to_tensor()->number_at(i); }

// The arguments with `change(leaf number, element, old)` in the place of the floats.
std::vector<Value> changed(std::vector<Value> args, const std::vector<Leaf>& leaves,
                           const std::function<double(std::size_t, std::int64_t, double)>& change) {
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    const Leaf& leaf = leaves[n];
    if (leaf.dtype != DType::Float64) continue;
    const Value old = field_at(args[leaf.argument], leaf.path);
    const auto tensor = lang::Tensor::make(DType::Float64, leaf.shape);
    for (std::int64_t i = 0; i < tensor->element_count(); ++i)
      tensor->set_bits(i, std::bit_cast<std::uint64_t>(change(n, i, element(old, i))));
    args[leaf.argument] = with_field(args[leaf.argument], leaf.path, Value::tensor(tensor));
  }
  return args;
}

// The arguments with `delta(leaf number, element)` added to the floats.
std::vector<Value> moved(const std::vector<Value>& args, const std::vector<Leaf>& leaves,
                         const std::function<double(std::size_t, std::int64_t)>& delta) {
  return changed(args, leaves,
                 [&](std::size_t n, std::int64_t i, double old) { return old + delta(n, i); });
}

std::string tensor_text(const Leaf& leaf) {
  return fmt::format("Tensor[({}), float64]", fmt::join(leaf.shape, ", "));
}

// A row as a function to a number: the sum of y (y + 0.3) over its result, whose adjoint differs
// from element to element, and needs no type to be written.
struct ToNumber {
  const CaseRow* row;
  std::vector<Value> args;
  std::vector<Leaf> leaves;  // of the arguments
  std::string body;

  std::string function(const CaseDims& dims) const {
    return fmt::format("fn {}{}", variables_text(*row, dims), literal(dims));
  }
  std::string literal(const CaseDims& dims) const {
    return fmt::format("({}) {{ {} }}", parameters_text(*row, dims), body);
  }
  std::string names() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < row->inputs.size(); ++i) all.push_back(parameter_name(i));
    return fmt::format("{}", fmt::join(all, ", "));
  }
};

ToNumber to_number(const CaseRow& row, const Value& result) {
  ToNumber f{&row, make_arguments(row), {}, {}};
  f.leaves = leaves_of(f.args);
  std::vector<std::string> terms;
  for (const Leaf& leaf : leaves_of({result})) {
    if (leaf.dtype == DType::Float64)
      terms.push_back(fmt::format("sum(y{0} * (y{0} + 0.3))", leaf.text()));
  }
  f.body = fmt::format("let y = {}; {}", call_text(row), fmt::join(terms, " + "));
  return f;
}

bool close(double found, double expected, double scale) {
  return std::abs(found - expected) <= 1e-5 * std::abs(expected) + 1e-7 * (1 + scale);
}

// The adjoint of `leaf` in the gradient of a function of so many arguments: of one it is no tuple.
Value adjoint_of(const Value& gradient, const Leaf& leaf, std::size_t arguments) {
  return field_at(arguments == 1 ? gradient : gradient.as_tuple().fields()[leaf.argument],
                  leaf.path);
}

std::string first_order(repl::Session& session, const ToNumber& f, const Value& function,
                        const Value& gradient) {
  const auto value_at = [&](std::size_t n, std::int64_t i, double step) {
    const auto args = moved(f.args, f.leaves, [&](std::size_t leaf, std::int64_t k) {
      return leaf == n && k == i ? step : 0.0;
    });
    return element(session.evaluator().call(function, args).or_throw(), 0);
  };
  for (std::size_t n = 0; n < f.leaves.size(); ++n) {
    const Leaf& leaf = f.leaves[n];
    const Value adjoint = adjoint_of(gradient, leaf, f.args.size());
    for (std::int64_t i = 0; i < count_of(leaf); ++i) {
      double expected = 0;
      double scale = 0;
      if (leaf.dtype == DType::Float64) {
        const double above = value_at(n, i, kStep);
        expected = (above - value_at(n, i, -kStep)) / (2 * kStep);
        scale = std::abs(above);
      }
      if (close(element(adjoint, i), expected, scale)) continue;
      return fmt::format("the derivative by {}{}, element {}, is {}, differences give {}",
                         parameter_name(leaf.argument), leaf.text(), i, element(adjoint, i),
                         expected);
    }
  }
  return "";
}

std::vector<lang::Diagnostic> define(repl::Session& session, const std::string& text) {
  return session.run("row", text, [](const repl::ItemResult&) {});
}

// Can it be typed with such extents? One may have to be a number, or that of another parameter.
bool can_have(repl::Session& session, const ToNumber& f, const CaseDims& dims) {
  if (dims.kind != CaseDims::Symbolic) return can_be_typed(session, f.function(dims));
  return define(session, fmt::format("def row{}{}", variables_text(*f.row, dims), f.literal(dims)))
      .empty();
}

// The derivative in that mode (`grad`, `jvp`) as a function value. With dimension variables it is
// taken where their values are not known: inside of a definition that is generic in them. A literal
// would be differentiated when it is called, at the shapes of its arguments.
Result<Value> derivative(repl::Session& session, const ToNumber& f, std::string_view mode,
                         const CaseDims& dims) {
  if (dims.kind != CaseDims::Symbolic)
    return session.evaluate(fmt::format("{}({})", mode, f.function(dims)));
  std::string more;  // the tangents
  if (mode == "jvp") {
    for (std::size_t i = 0; i < f.row->inputs.size(); ++i) more += fmt::format(", t{}", i);
  }
  std::vector<lang::Diagnostic> errors =
      define(session, fmt::format("def derivative_of_row{0}({1}{2}) {{ {3}(fn {4})({5}{2}) }}",
                                  variables_text(*f.row, dims), parameters_text(*f.row, dims), more,
                                  mode, f.literal(dims), f.names()));
  if (!errors.empty()) return errors;
  return session.evaluate("derivative_of_row");
}

// <grad f, v> as a function of the row's arguments and v, and what it is applied to.
struct GradientProduct {
  std::string text;
  std::vector<Value> args;
};

GradientProduct gradient_product(const ToNumber& f, const CaseDims& dims) {
  std::string parameters = parameters_text(*f.row, dims);
  std::string products;
  std::vector<Value> args = f.args;
  for (std::size_t n = 0; n < f.leaves.size(); ++n) {
    const Leaf& leaf = f.leaves[n];
    if (leaf.dtype != DType::Float64) continue;
    parameters += fmt::format(", v{}: {}", n, tensor_text(leaf));
    const std::string part = f.args.size() == 1 ? "" : fmt::format(".{}", leaf.argument);
    products +=
        fmt::format("{}sum(v{} * g{}{})", products.empty() ? "" : " + ", n, part, leaf.text());
    args.push_back(make_numbers(leaf.shape, -1, 1, 70 + static_cast<std::int64_t>(n)));
  }
  return {fmt::format("fn ({}) {{ let g = grad({})({}); {} }}", parameters, f.function(dims),
                      f.names(), products),
          std::move(args)};
}

Result<Value> gradient_of(repl::Session& session, const GradientProduct& product) {
  const auto derivative = session.evaluate(fmt::format("grad({})", product.text));
  if (!derivative) return derivative;
  return session.evaluator().call(*derivative, product.args);
}

// The derivative of that along a direction against differences, and the same with `?` dims.
std::string second_order(repl::Session& session, const ToNumber& f) {
  const GradientProduct product = gradient_product(f, CaseDims::Constant);
  const auto function = session.evaluate(product.text);
  if (!function)
    return "the product of its gradient with a vector fails:" + describe(function.errors());
  const auto gradient = gradient_of(session, product);
  if (!gradient) return "its second derivative fails:" + describe(gradient.errors());
  const auto direction = [](std::size_t n, std::int64_t i) {
    return unit_number(i, 90 + static_cast<std::int64_t>(n)) - 0.4;
  };
  const auto value_at = [&](double step) {
    const auto at = moved(product.args, f.leaves,
                          [&](std::size_t n, std::int64_t i) { return step * direction(n, i); });
    return element(session.evaluator().call(*function, at).or_throw(), 0);
  };
  double found = 0;
  double scale = 0;
  for (std::size_t n = 0; n < f.leaves.size(); ++n) {
    const Leaf& leaf = f.leaves[n];
    if (leaf.dtype != DType::Float64) continue;
    const Value adjoint = adjoint_of(*gradient, leaf, product.args.size());
    for (std::int64_t i = 0; i < count_of(leaf); ++i) {
      found += element(adjoint, i) * direction(n, i);
      scale += std::abs(element(adjoint, i) * direction(n, i));
    }
  }
  const double above = value_at(kStep);
  const double expected = (above - value_at(-kStep)) / (2 * kStep);
  if (!close(found, expected, 10 * (scale + std::abs(above)))) {
    return fmt::format("its second derivative along a direction is {}, differences give {}", found,
                       expected);
  }
  if (f.row->has_note("constant")) return "";
  // The order of sums may be another there.
  const auto same = gradient_of(session, gradient_product(f, CaseDims::Any));
  if (!same) return "with `?` dims its second derivative fails:" + describe(same.errors());
  for (const Leaf& leaf : leaves_of(product.args)) {
    const Value one = adjoint_of(*gradient, leaf, product.args.size());
    const Value other = adjoint_of(*same, leaf, product.args.size());
    for (std::int64_t i = 0; i < count_of(leaf); ++i) {
      if (close(element(other, i), element(one, i), 0)) continue;
      return fmt::format("with `?` dims its second derivative by {}{}, element {}, is {}, not {}",
                         parameter_name(leaf.argument), leaf.text(), i, element(other, i),
                         element(one, i));
    }
  }
  return "";
}

// Forward mode: the tangent along a direction is the product of the gradient and the direction.
std::string forward_mode(repl::Session& session, const ToNumber& f, const Value& gradient,
                         const CaseDims& dims) {
  const auto direction = [](std::size_t n, std::int64_t i) {
    return unit_number(i, 110 + static_cast<std::int64_t>(n)) - 0.4;
  };
  double expected = 0;
  double scale = 0;
  for (std::size_t n = 0; n < f.leaves.size(); ++n) {
    if (f.leaves[n].dtype != DType::Float64) continue;
    const Value adjoint = adjoint_of(gradient, f.leaves[n], f.args.size());
    for (std::int64_t i = 0; i < count_of(f.leaves[n]); ++i) {
      expected += element(adjoint, i) * direction(n, i);
      scale += std::abs(element(adjoint, i) * direction(n, i));
    }
  }
  const auto jvp = derivative(session, f, "jvp", dims);
  if (!jvp) return "its jvp fails:" + describe(jvp.errors());
  std::vector<Value> args = f.args;
  const auto along = changed(
      f.args, f.leaves, [&](std::size_t n, std::int64_t i, double) { return direction(n, i); });
  args.insert(args.end(), along.begin(), along.end());
  const auto both = session.evaluator().call(*jvp, args);
  if (!both) return "its jvp fails:" + describe(both.errors());
  const double found = element(both->as_tuple().fields()[1], 0);
  if (std::abs(found - expected) <= 1e-9 * (1 + scale)) return "";
  return fmt::format("its tangent along a direction is {}, the gradient says {}", found, expected);
}

}  // namespace

bool has_gradient(const CaseRow& row, const Value& result) {
  const auto is_float64 = [](const Leaf& leaf) {
    return leaf.dtype == DType::Float64 && count_of(leaf) > 0;
  };
  const auto any = [&](const std::vector<Leaf>& leaves) {
    return std::find_if(leaves.begin(), leaves.end(), is_float64) != leaves.end();
  };
  const lang::OpDef* op = lang::OpRegistry::instance().find(row.op);
  return op && op->differentiable && !row.has_note("rough") &&
         any(leaves_of(make_arguments(row))) && any(leaves_of({result}));
}

namespace {

// The row's gradient with such extents, against the one with constants.
std::string trouble_with(repl::Session& session, const ToNumber& f, const Value& gradient,
                         const CaseDims& dims) {
  const auto with_dims = derivative(session, f, "grad", dims);
  const auto same = with_dims ? session.evaluator().call(*with_dims, f.args) : with_dims;
  if (!same) return "its gradient fails:" + describe(same.errors());
  // What is known of shapes decides in which order sums and products are taken.
  if (lang::bit_equal(gradient, *same)) return "";
  for (const Leaf& leaf : leaves_of({gradient})) {
    const Value one = field_at(gradient, leaf.path);
    const Value other = field_at(*same, leaf.path);
    for (std::int64_t i = 0; i < count_of(leaf); ++i) {
      if (lang::is_float(leaf.dtype) && close(element(other, i), element(one, i), 0)) continue;
      if (element(other, i) == element(one, i)) continue;
      return fmt::format("element {} of its gradient{} is {}, not {}", i, leaf.text(),
                         element(other, i), element(one, i));
    }
  }
  return forward_mode(session, f, gradient, dims);
}

}  // namespace

std::string gradient_trouble(repl::Session& session, const CaseRow& row, const Value& result,
                             CaseChecker::Extents& extents) {
  const ToNumber f = to_number(row, result);
  const auto function = session.evaluate(f.function(CaseDims::Constant));
  if (!function) return "as a function to a number it fails:" + describe(function.errors());
  const auto with_constants = derivative(session, f, "grad", CaseDims::Constant);
  const auto gradient =
      with_constants ? session.evaluator().call(*with_constants, f.args) : with_constants;
  if (row.has_note("refused")) {
    const bool is_refused =
        !gradient && gradient.errors().front().kind == lang::DiagnosticKind::Unsupported;
    return is_refused ? "" : "its gradient is not refused as `Unsupported`";
  }
  if (!gradient) return "its gradient fails:" + describe(gradient.errors());
  std::string trouble = first_order(session, f, *function, *gradient);
  if (trouble.empty()) trouble = forward_mode(session, f, *gradient, CaseDims::Constant);
  if (!trouble.empty()) return trouble;
  if (!row.has_note("constant")) {
    std::vector<CaseDims> all = single_extents(row);
    all.emplace_back(CaseDims::Symbolic);
    all.emplace_back(CaseDims::Any);
    for (const CaseDims& dims : all) {
      ++extents.tried;
      const bool is_whole_any = dims.kind == CaseDims::Any && dims.places.empty();
      if (!is_whole_any && !can_have(session, f, dims)) {
        ++extents.skipped;
        continue;
      }
      trouble = trouble_with(session, f, *gradient, dims);
      if (!trouble.empty()) return fmt::format("with {}: {}", dims.describe(), trouble);
    }
  }
  return second_order(session, f);
}

}  // namespace relay::tests
