#include "tests/support/derivative_check.h"

#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tests/support/property.h"
#include "tests/support/value_space.h"

namespace relay::tests {

using lang::Value;

namespace {

constexpr std::size_t kProgramsPerSession = 50;
constexpr std::size_t kSmallInput = 4;  // coordinates that are tried one by one
constexpr double kStep = 1e-4;

// Every other program has functions whose extents are symbolic, as those of large programs may be.
repl::SessionOptions options_of(interp::JitMode jit, std::uint64_t seed, bool verify) {
  repl::SessionOptions options;
  options.jit = jit;
  options.extents = seed % 2 == 0 ? typecheck::Extents::Known : typecheck::Extents::Symbolic;
  options.verify = verify;
  options.write = [](std::string_view) {};
  return options;
}

double number(const Value& value) { return std::bit_cast<double>(value.bits()); }
const Value& field(const Value& tuple, std::size_t i) { return tuple.as_tuple().fields()[i]; }

Value tuple_of(std::vector<Value> fields) { return Value::tuple(lang::TupleCell::make(fields)); }

std::vector<Value> list_of(const Value& tuple) {
  const auto fields = tuple.as_tuple().fields();
  return {fields.begin(), fields.end()};
}

// A gradient as the tuple of those of the parameters.
Value gradient_tuple(const Value& gradient, const Value& args) {
  return args.as_tuple().fields().size() == 1 ? tuple_of({gradient}) : gradient;
}

bool close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

}  // namespace

DerivativeCheck::DerivativeCheck(bool verify) : verify_(verify) {}

Failure DerivativeCheck::refused(const std::vector<lang::Diagnostic>& errors) {
  if (is_unsupported(errors)) {
    ++unsupported[errors[0].message];
    return {};
  }
  const std::string text = rendered(errors);
  return {"refused: " + std::string(errors.empty() ? "" : errors[0].message.substr(0, 24)), text};
}

lang::Result<Value> DerivativeCheck::load(repl::Session& session, const RandomProgram& program,
                                          const std::string& more) {
  const auto errors = session.run("<program>", program.text + more, nullptr);
  if (!errors.empty()) return errors;
  std::string text = "{ ";
  for (std::size_t i = 0; i < program.args.size(); ++i)
    text += fmt::format("let a{}: {} = {}; ", i, program.param_types[i], program.args[i]);
  const auto args = session.evaluate(text + "((" + program.arg_names() + "), 0) }");
  if (!args) return args.errors();
  return program.args.size() == 1 ? tuple_of({field(*args, 0)}) : field(*args, 0);
}

std::optional<Failure> DerivativeCheck::load(const RandomProgram& program,
                                             const std::string& more) {
  Sessions& sessions = sessions_[program.seed % 2];
  if (sessions.programs++ % kProgramsPerSession == 0)
    sessions.lanes =
        std::make_unique<repl::Session>(options_of(interp::JitMode::Off, program.seed, verify_));
  lanes_ = sessions.lanes.get();
  const auto args = load(*lanes_, program, more);
  if (!args) return refused(args.errors());
  args_ = *args;
  return std::nullopt;
}

Failure DerivativeCheck::compare_tiers(const RandomProgram& program, const std::string& more,
                                       const Run& run, const Value& result) {
  repl::Session native(options_of(interp::JitMode::Always, program.seed, verify_));
  const auto args = load(native, program, more);
  if (!args) return refused(args.errors());
  const auto function = native.evaluate(run.text);
  if (!function) return refused(function.errors());
  const auto again = native.evaluator().call(*function, run.inputs(list_of(*args)));
  if (!again) return refused(again.errors());
  const std::string here = lang::to_string(result);
  const std::string there = lang::to_string(*again);
  if (here == there) return {};
  return {"the tiers differ", "lanes  " + here + "\nnative " + there};
}

// The slope of f at `args` in a direction, by differences of two widths, which must tell the same.
// Nothing where they do not, or where the slope on one side is another than on the other.
std::optional<DerivativeCheck::Slope> DerivativeCheck::slope(
    const std::function<double(const Value&)>& f, const Value& args, const Value& direction) {
  const double middle = f(args);
  const auto at = [&](double step) { return f(moved(args, direction, step)); };
  const double wide[] = {at(-kStep), at(kStep)};
  const double narrow[] = {at(-kStep / 2), at(kStep / 2)};
  const double wide_slope = (wide[1] - wide[0]) / (2 * kStep);
  const double narrow_slope = (narrow[1] - narrow[0]) / kStep;
  const double scale = 1 + std::abs(narrow_slope) + std::abs(middle);
  if (!std::isfinite(scale) || !std::isfinite(wide_slope)) return std::nullopt;
  // Half the width halves the difference of the one-sided slopes, but at a kink.
  const double wide_bend = std::abs(wide[1] - 2 * middle + wide[0]) / kStep;
  const double narrow_bend = std::abs(narrow[1] - 2 * middle + narrow[0]) / (kStep / 2);
  if (narrow_bend > 0.6 * wide_bend && narrow_bend > 1e-6 * scale) return std::nullopt;
  const double error = std::abs(wide_slope - narrow_slope);
  if (error > 1e-4 * scale) return std::nullopt;
  return Slope{(4 * narrow_slope - wide_slope) / 3, 2 * error, scale};
}

// A function that bends within the steps has that slope where they are much shorter.
bool DerivativeCheck::is_slope_of_shorter_steps(const std::function<double(const Value&)>& f,
                                                const Value& direction, double value,
                                                double found) const {
  for (const double step : {1e-7, 1e-8, 1e-9}) {
    const double slope =
        (f(moved(args_, direction, step)) - f(moved(args_, direction, -step))) / (2 * step);
    // That much is lost in the difference of two values.
    const double lost = 1e-15 * std::abs(value) / step;
    if (lost < 0.01 * std::abs(found) && close(found, slope, 1e-3 * std::abs(found) + lost))
      return true;
  }
  return false;
}

Failure DerivativeCheck::gradient(const RandomProgram& program, bool both_tiers) {
  if (auto failure = load(program)) return *failure;
  const std::string names = program.arg_names();
  const auto function = lanes_->evaluate(program.wrapped("f(" + names + ")"));
  if (!function) return refused(function.errors());
  const std::string derivative_text = program.wrapped("value_and_grad(f)(" + names + ")");
  const auto derivative = lanes_->evaluate(derivative_text);
  if (!derivative) return refused(derivative.errors());
  const auto result = lanes_->evaluator().call(*derivative, list_of(args_));
  if (!result) return refused(result.errors());
  std::optional<Failure> failed;
  const auto f = [&](const Value& args) {
    const auto value = lanes_->evaluator().call(*function, list_of(args));
    if (!value && !failed) failed = refused(value.errors());
    return value ? number(*value) : std::nan("");
  };
  const Value gradient = gradient_tuple(field(*result, 1), args_);
  const double value = f(args_);
  if (failed) return *failed;
  if (!std::isfinite(value)) {
    ++rough;
    return {};
  }
  if (const double same = number(field(*result, 0));
      same != value || std::signbit(same) != std::signbit(value))
    return {"another value", fmt::format("f gives {}, value_and_grad {}", value, same)};
  const std::size_t count = coordinate_count(args_);
  if (coordinate_count(gradient) != count)
    return {"another structure", "the gradient is " + lang::to_string(gradient)};
  if (inner_product(gradient, gradient) == 0) ++flat;
  Random random(program.seed);
  std::vector<Value> directions = {random_direction(args_, random)};
  for (std::size_t i = 0; count <= kSmallInput && i < count; ++i)
    directions.push_back(unit_direction(args_, i));
  for (const Value& direction : directions) {
    const auto expected = slope(f, args_, direction);
    if (failed) return *failed;
    if (!expected) {
      ++rough;
      return {};
    }
    const double found = inner_product(gradient, direction);
    if (close(found, expected->value, 1e-7 * expected->scale + expected->error)) continue;
    if (is_slope_of_shorter_steps(f, direction, value, found)) {
      ++rough;
      return {};
    }
    return {"wrong gradient", fmt::format("in direction {}: {}, differences {}\ngradient {}",
                                          lang::to_string(direction), found, expected->value,
                                          lang::to_string(gradient))};
  }
  if (!both_tiers) return {};
  return compare_tiers(program, "", {derivative_text, [](const auto& args) { return args; }},
                       *result);
}

Failure DerivativeCheck::transpose(const RandomProgram& program, bool both_tiers) {
  if (auto failure = load(program)) return *failure;
  const std::string names = program.arg_names();
  std::string params;
  std::string direction_params;
  std::string directions;
  for (std::size_t i = 0; i < program.param_types.size(); ++i) {
    params += fmt::format("a{}: {}, ", i, program.param_types[i]);
    direction_params += fmt::format("u{}: {}, ", i, program.param_types[i]);
    directions += fmt::format(", u{}", i);
  }
  // Value and tangent in a direction, value and what the pullback makes of an adjoint, and the
  // tangent once more.
  const std::string text = fmt::format(
      "fn ({0}{1}v: {2}) {{ let (y, pull) = vjp(f)({3}); let (z, linear) = "
      "linearize(f, {3}); (jvp(f)({3}{4}), (y, pull(v)), linear({5})) }}",
      params, direction_params, program.result_type, names, directions, directions.substr(2));
  const auto function = lanes_->evaluate(program.wrapped("f(" + names + ")"));
  if (!function) return refused(function.errors());
  const auto value = lanes_->evaluator().call(*function, list_of(args_));
  if (!value) return refused(value.errors());
  const auto derivative = lanes_->evaluate(text);
  if (!derivative) return refused(derivative.errors());
  const auto inputs = [&](const Value& args, const Value& result) {
    Random random(program.seed);
    std::vector<Value> all = list_of(args);
    for (const Value& u : list_of(random_direction(args, random))) all.push_back(u);
    all.push_back(random_direction(result, random));
    return all;
  };
  const std::vector<Value> all = inputs(args_, *value);
  const auto result = lanes_->evaluator().call(*derivative, all);
  if (!result) return refused(result.errors());

  if (!std::isfinite(inner_product(*value, *value))) {
    ++rough;
    return {};
  }
  const std::size_t count = program.param_types.size();
  const Value u = tuple_of({all.begin() + static_cast<std::ptrdiff_t>(count), all.end() - 1});
  const Value& v = all.back();
  const Value& forward = field(*result, 0);
  const Value& back = field(*result, 1);
  const Value& tangent = field(forward, 1);
  const Value adjoint = gradient_tuple(field(back, 1), args_);
  const std::string both =
      "tangent " + lang::to_string(tangent) + "\nadjoint " + lang::to_string(adjoint);
  if (coordinate_count(tangent) != coordinate_count(*value) ||
      coordinate_count(adjoint) != coordinate_count(args_))
    return {"another structure", both};
  if (inner_product(adjoint, adjoint) == 0) ++flat;
  const double left = inner_product(v, tangent);
  const double right = inner_product(adjoint, u);
  const double scale = 1 + inner_magnitude(v, tangent) + inner_magnitude(adjoint, u);
  // 0 times infinity: something overflowed that the result does not need. Small arguments show it.
  if (std::isnan(right) && std::isfinite(left)) {
    const std::vector<Value> small = inputs(moved(args_, args_, -0.999), *value);
    const auto near_zero = lanes_->evaluator().call(*derivative, small);
    if (!near_zero) return refused(near_zero.errors());
    const Value there = gradient_tuple(field(field(*near_zero, 1), 1), args_);
    if (close(inner_product(v, field(field(*near_zero, 0), 1)), inner_product(there, u), 1e-9)) {
      ++rough;
      return {};
    }
  }
  if (!close(left, right, 1e-9 * scale)) {
    return {"forward and reverse mode differ",
            fmt::format("<v, Ju> is {}, <J^T v, u> is {}\n{}", left, right, both)};
  }
  const Value& linear = field(*result, 2);
  const Value apart = moved(linear, tangent, -1.0);
  if (inner_product(apart, apart) > 1e-18 * (1 + inner_product(tangent, tangent))) {
    return {"linearized to something else",
            fmt::format("jvp gives {}\nlinearize {}", lang::to_string(tangent),
                        lang::to_string(linear))};
  }
  for (const Value* again : {&field(forward, 0), &field(back, 0)}) {
    const Value difference = moved(*again, *value, -1.0);
    if (inner_product(difference, difference) > 1e-20 * (1 + inner_product(*value, *value)))
      return {"another value",
              "f gives " + lang::to_string(*value) + ", its derivative " + lang::to_string(*again)};
  }
  if (!both_tiers) return {};
  // The result's data type is the session's own: its value is asked of each.
  return compare_tiers(program, "",
                       {text, [&](const auto& args) { return inputs(tuple_of(args), *value); }},
                       *result);
}

namespace {

// (x, u) -> the Hessian at x times u: the tangent of the gradient, or the gradient of the tangent.
std::string other_way(const RandomProgram& program, bool is_outer) {
  std::string params, inner, names, directions;
  for (std::size_t i = 0; i < program.param_types.size(); ++i) {
    const char* comma = i ? ", " : "";
    params += fmt::format("{}a{}: {}", comma, i, program.param_types[i]);
    inner += fmt::format("{}b{}: {}", comma, i, program.param_types[i]);
    names += fmt::format("{}b{}", comma, i);
    directions += fmt::format(", u{}", i);
  }
  for (std::size_t i = 0; i < program.param_types.size(); ++i)
    params += fmt::format(", u{}: {}", i, program.param_types[i]);
  const std::string at = program.arg_names();
  return is_outer ? fmt::format("fn ({}) {{ jvp(fn ({}) {{ grad(f)({}) }})({}{}).1 }}", params,
                                inner, names, at, directions)
                  : fmt::format("fn ({}) {{ grad(fn ({}) {{ jvp(f)({}{}).1 }})({}) }}", params,
                                inner, names, directions, at);
}

}  // namespace

Failure DerivativeCheck::second(const RandomProgram& program, bool both_tiers) {
  const std::string names = program.arg_names();
  // (x, u) -> <grad f(x), u>: its gradient in x is the Hessian times u, and in u the gradient.
  std::string params;
  std::string directions;
  std::string sum;
  const bool single = program.param_types.size() == 1;
  for (std::size_t i = 0; i < program.param_types.size(); ++i) {
    params += fmt::format("a{}: {}, ", i, program.param_types[i]);
    directions += fmt::format("{}u{}: {}", i ? ", " : "", i, program.param_types[i]);
    sum += fmt::format("{}{}(g{}, u{})", i ? " + " : "", program.inner_products[i],
                       single ? "" : fmt::format(".{}", i), i);
  }
  const std::string along =
      fmt::format("{}def along({}{}) {{ let g = grad(f)({}); {} }}\n",
                  program.inner_product_definitions, params, directions, names, sum);
  std::string all_args;
  std::string all_params;
  all_params = params + directions;
  all_args = names;
  for (std::size_t i = 0; i < program.param_types.size(); ++i) all_args += fmt::format(", u{}", i);
  const std::string second_text =
      fmt::format("fn ({}) {{ grad(along)({}) }}", all_params, all_args);
  if (auto failure = load(program, along)) return *failure;
  const auto first = lanes_->evaluate(program.wrapped("grad(f)(" + names + ")"));
  if (!first) return refused(first.errors());
  const auto second = lanes_->evaluate(second_text);
  if (!second) return refused(second.errors());

  Random random(program.seed);
  const Value u = random_direction(args_, random);
  const Value w = random_direction(args_, random);
  const auto inputs = [&](const std::vector<Value>& args) {
    Random again(program.seed);
    std::vector<Value> all = args;
    for (const Value& direction : list_of(random_direction(tuple_of(args), again)))
      all.push_back(direction);
    return all;
  };
  const std::vector<Value> both = inputs(list_of(args_));
  const auto result = lanes_->evaluator().call(*second, both);
  if (!result) return refused(result.errors());
  std::optional<Failure> failed;
  Value gradient;
  const auto along_u = [&](const Value& args) {
    const auto value = lanes_->evaluator().call(*first, list_of(args));
    if (!value && !failed) failed = refused(value.errors());
    if (!value) return std::nan("");
    gradient = gradient_tuple(*value, args_);
    return inner_product(gradient, u);
  };
  along_u(args_);
  if (failed) return *failed;
  const Value here = gradient;
  const auto expected = slope(along_u, args_, w);
  if (failed) return *failed;
  if (!expected) {
    ++rough;
    return {};
  }
  const std::size_t count = args_.as_tuple().fields().size();
  std::vector<Value> product;
  std::vector<Value> again;
  for (std::size_t i = 0; i < count; ++i) {
    product.push_back(field(*result, i));
    again.push_back(field(*result, count + i));
  }
  const Value hessian = tuple_of(product);
  if (inner_product(hessian, hessian) == 0) ++flat;
  const double found = inner_product(hessian, w);
  if (!close(found, expected->value, 1e-6 * expected->scale + expected->error)) {
    return {"wrong second derivative",
            fmt::format("along u and w: {}, differences {}\nu {}\nw {}\nHessian times u {}", found,
                        expected->value, lang::to_string(u), lang::to_string(w),
                        lang::to_string(hessian))};
  }
  // One in three the other ways round as well: forward over reverse, reverse over forward.
  for (const bool is_outer : {true, false}) {
    if (program.seed % 3 != (is_outer ? 0 : 1)) continue;
    const std::string text = other_way(program, is_outer);
    const auto function = lanes_->evaluate(text);
    if (!function) return refused(function.errors());
    const auto tangent = lanes_->evaluator().call(*function, both);
    if (!tangent) return refused(tangent.errors());
    const Value other = gradient_tuple(*tangent, args_);
    const double slope_again = inner_product(other, w);
    if (close(slope_again, found, 1e-8 * (1 + inner_magnitude(other, w)))) continue;
    return {"the ways differ", fmt::format("{} gives {}, grad of grad {}", text,
                                           lang::to_string(other), lang::to_string(hessian))};
  }
  const double first_again = inner_product(tuple_of(again), u);
  const double magnitude = 1 + inner_magnitude(here, u);
  if (!close(first_again, inner_product(here, u), 1e-9 * magnitude)) {
    return {"another gradient", "grad gives " + lang::to_string(here) +
                                    ", the derivative of the directional derivative " +
                                    lang::to_string(tuple_of(again))};
  }
  if (!both_tiers) return {};
  return compare_tiers(program, along, {second_text, inputs}, *result);
}

}  // namespace relay::tests
