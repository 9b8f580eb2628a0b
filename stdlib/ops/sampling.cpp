#include "stdlib/ops/sampling.h"

#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

DType sampling_dtype(DType dtype) {
  return dtype == DType::Float64 ? DType::Float64 : DType::Float32;
}

std::optional<std::int64_t> constant_of(const Expr& extent) {
  const auto* constant = lang::as<lang::Constant>(extent);
  if (!constant) return std::nullopt;
  return static_cast<std::int64_t>(constant->value->number_at(0));
}

Scalar as_number(const Expr& extent, DType dtype) {
  if (const auto known = constant_of(extent))
    return build::constant(dtype, static_cast<double>(*known));
  return build::cast_to(dtype, extent);
}

namespace {

std::vector<lang::IndexBinder> binders_for(const std::vector<Dim>& dims,
                                           const std::vector<Expr>& extents, Indices& indices) {
  static constexpr std::array kNames = {"i", "j", "k", "l", "m", "n"};
  std::vector<lang::IndexBinder> binders;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const Expr extent = dims[axis].is_any() ? extents[axis] : extent_expr(dims[axis]);
    const char* name = kNames[binders.size() % kNames.size()];
    const lang::VariableRef variable = lang::make_variable(name, lang::scalar_type(DType::Int64));
    binders.push_back({variable, extent});
    indices.push_back(lang::make_var(variable));
  }
  return binders;
}

}  // namespace

Expr generate(const std::vector<Dim>& dims, const std::vector<Expr>& extents,
              const std::function<Expr(const Indices&)>& body) {
  Indices indices;
  std::vector<lang::IndexBinder> binders = binders_for(dims, extents, indices);
  Expr element = body(indices);
  if (binders.empty()) return element;
  const Type type = lang::tensor_type(Shape(dims), tensor_type_of(element).dtype);
  return lang::make_comprehension(std::move(binders), std::move(element), {}, type);
}

Expr generate_over(const Expr& like, std::size_t count,
                   const std::function<Expr(const Indices&)>& body) {
  const std::vector<Dim>& dims = dims_of(like);
  std::vector<Expr> extents;
  for (std::size_t axis = 0; axis < count; ++axis) extents.push_back(extent_of(like, axis));
  return generate({dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count)}, extents, body);
}

Scalar clamped(const Scalar& index, const Expr& extent) {
  const Scalar last = Scalar(extent) - 1;
  return max_of(min_of(index, last), build::index_constant(0));
}

Scalar is_within(const Scalar& index, const Expr& extent) {
  return (index >= 0) & (index < Scalar(extent));
}

Scalar to_index(const Scalar& position) {
  constexpr double kFar = 1 << 30;
  const Scalar bounded =
      min_of(max_of(choose(position == position, position, position.number(-kFar)),
                    position.number(-kFar)),
             position.number(kFar));
  return cast_scalar(DType::Int64, bounded);
}

Scalar floor_index(const Scalar& position) { return to_index(floor_of(position)); }

Scalar round_away(const Scalar& position) {
  const Scalar below = floor_of(position);
  const Scalar rest = position - below;
  const Scalar up = choose(position >= 0, rest >= 0.5, rest > 0.5);
  return choose(up, below + 1, below);
}

Scalar pick(const std::vector<double>& values, const Scalar& index, DType dtype) {
  Scalar value = build::constant(dtype, values.back());
  for (std::size_t i = values.size() - 1; i-- > 0;)
    value = choose(index == static_cast<double>(i), value.number(values[i]), value);
  return value;
}

Scalar lerp(const Scalar& a, const Scalar& b, const Scalar& t) { return a * (1.0 - t) + b * t; }

std::array<Scalar, 4> cubic_weights(const Scalar& t, double alpha) {
  const Scalar t2 = t * t;
  const Scalar t3 = t2 * t;
  return {alpha * (t3 - 2.0 * t2 + t), (alpha + 2) * t3 - (alpha + 3) * t2 + 1,
          (2 * alpha + 3) * t2 - (alpha + 2) * t3 - alpha * t, alpha * t2 - alpha * t3};
}

Expr with_taps(const Points& points, const TapRule& rule,
               const std::function<Expr(const Taps&)>& body) {
  const Expr positions = generate(points.dims, points.extents, points.position);
  return build::let("position", positions, [&](const Expr& position) {
    std::vector<Dim> dims = points.dims;
    std::vector<Expr> extents = points.extents;
    dims.emplace_back(rule.count);
    extents.push_back(build::index_constant(rule.count));
    const auto table = [&](const auto& element) {
      return generate(dims, extents, [&](const Indices& i) {
        return element(build::at(position, {i.begin(), i.end() - 1}), Scalar(i.back()));
      });
    };
    return build::let("place", table(rule.place), [&](const Expr& places) {
      if (!rule.weight) return body({places, nullptr});
      return build::let("weight", table(rule.weight), [&](const Expr& weights) {
        return body({places, weights});
      });
    });
  });
}

TapRule linear_taps(const Expr& extent, bool zero_outside) {
  const auto place = [=](const Scalar& position, const Scalar& tap) -> Scalar {
    const Scalar index = floor_index(position) + tap;
    if (!zero_outside) return clamped(index, extent);
    return choose(is_within(index, extent), index, build::index_constant(-1));
  };
  const auto weight = [](const Scalar& position, const Scalar& tap) {
    const Scalar t = position - floor_of(position);
    return choose(tap == 0, 1.0 - t, t);
  };
  return {2, place, weight};
}

Scalar read_taps(const Expr& tensor, Indices index, const std::vector<std::size_t>& axes,
                 const std::vector<Scalar>& places) {
  Expr is_there;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Scalar there = places[i] >= 0;
    is_there = is_there ? (Scalar(is_there) & there).expr : there.expr;
    index[axes[i]] = max_of(places[i], build::index_constant(0));
  }
  const Scalar value = build::at(tensor, index);
  return choose(is_there, value, value.number(0));
}

void check_one_of(const TypeCall& call, const char* key, std::initializer_list<const char*> known) {
  const std::string& value = call.attrs->get_string(key);
  std::string listed;
  for (const char* name : known) {
    if (value == name) return;
    if (*name) listed += (listed.empty() ? "`" : ", `") + std::string(name) + "`";
  }
  lang::fail(DiagnosticKind::BadAttribute,
             "`" + std::string(key) + "` is `" + value + "`, and must be one of " + listed,
             call.span);
}

Shape input_of_rank(TypeCall& call, std::size_t input, std::size_t rank) {
  const Type type = call.tensor(input);
  const Shape& shape = static_cast<const TensorType&>(*type).shape;
  if (shape.has_rank() && shape.rank() != rank) {
    call.fail(DiagnosticKind::RankMismatch,
              "`" + call.op.inputs[input].name + "` of `" + call.op.name + "` has rank " +
                  std::to_string(rank) + ", and `" + to_string(shape) + "` has rank " +
                  std::to_string(shape.rank()));
  }
  return with_rank(call, shape, rank);
}

Shape input_of_rank(TypeCall& call, std::size_t input, std::size_t rank, PrimOperands operands) {
  const Type type = call.tensor(input);
  call.solver.require(static_cast<const TensorType&>(*type).dtype, operands);
  return input_of_rank(call, input, rank);
}

void check_has_elements(const TypeCall& call, const Shape& shape,
                        const std::vector<std::size_t>& axes) {
  for (const std::size_t axis : axes) {
    if (!shape[axis].is_constant(0)) continue;
    call.fail(DiagnosticKind::ShapeMismatch, "there is nothing to read in `" + to_string(shape) +
                                                 "`: axis " + std::to_string(axis) +
                                                 " has no elements");
  }
}

}  // namespace relay::stdlib
