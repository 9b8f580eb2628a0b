// image.affine_grid, image.grid_sample.

#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- image.affine_grid ---

RuleOutcome affine_grid_rule(TypeCall& call) {
  const std::vector<std::int64_t> target = call.attrs->get_ints("target_shape");
  if (target.size() != 2 || target[0] < 0 || target[1] < 0) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`target_shape` must be a height and a width, found " +
                   call.attrs->find("target_shape")->to_string(),
               call.span);
  }
  check_largest(call, "target_shape");
  const Type data = call.tensor(0);
  call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape from = with_rank(call, as_tensor(data).shape, 3);
  call.solver.unify(from[1], Dim(2));
  call.solver.unify(from[2], Dim(3));
  call.solver.unify(known, Shape({from[0], Dim(2), Dim(target[0]), Dim(target[1])}));
  return RuleOutcome::Solved;
}

Expr affine_grid(const DefinitionCall& call) {
  const std::vector<std::int64_t> target = call.attrs->get_ints("target_shape");
  const Expr& data = call.args[0];
  const DType dtype = call.tensor(0).dtype.known();
  const auto along = [&](const Expr& index, std::int64_t extent) {
    const double step = 2.0 / static_cast<double>(std::max<std::int64_t>(extent - 1, 1));
    return cast_scalar(dtype, index) * step - 1;
  };
  const auto constant = [](std::int64_t extent) { return build::index_constant(extent); };
  return generate(as_tensor(call.result).shape.dims(),
                  {extent_of(data, 0), constant(2), constant(target[0]), constant(target[1])},
                  [&](const Indices& out) {
                    const auto at = [&](std::int64_t column) -> Scalar {
                      return build::at(data, {out[0], out[1], constant(column)});
                    };
                    const Scalar y = along(out[2], target[0]);
                    const Scalar x = along(out[3], target[1]);
                    return (at(0) * x + at(1) * y + at(2)).expr;
                  });
}

void add_affine_grid() {
  OpDef def;
  def.name = "image.affine_grid";
  def.level = 5;
  def.doc =
      "For each matrix of an affine map the points that it sends a regular grid over -1..1 to.\n"
      "Channel 0 of the result holds the x and channel 1 the y of the points; the corners of the "
      "grid are -1 and\n1, and a grid of one row or column lies at -1.";
  def.example =
      "image.affine_grid([[[1.0, 0.0, 0.0], [0.0, 2.0, 0.5]]], target_shape=[1, 2])\n"
      "// expect: [[[[-1.0,  1.0]], [[-1.5, -1.5]]]]";
  def.inputs = {{"data", "matrices: batch, 2, 3"}};
  def.attrs = {required_attr("target_shape", AttrKind::IntList, "height and width of the grid")};
  def.type_rule = affine_grid_rule;
  def.definition = affine_grid;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- image.grid_sample ---

RuleOutcome grid_sample_rule(TypeCall& call) {
  check_one_of(call, "layout", {"NCHW", "NCDHW"});
  check_one_of(call, "padding_mode", {"zeros", "border", "reflection"});
  const std::size_t rank = call.attrs->get_string("layout").size();
  if (rank == 4) {
    check_one_of(call, "method", {"nearest", "bilinear", "bicubic"});
  } else {
    check_one_of(call, "method", {"nearest", "bilinear"});
  }
  const Type data = call.tensor(0);
  const Type grid = call.tensor(1);
  for (const Type& type : {data, grid}) {
    const Shape& shape = as_tensor(type).shape;
    if (!shape.has_rank() || shape.rank() == rank) continue;
    call.fail(DiagnosticKind::RankMismatch,
              "`image.grid_sample` takes data and a grid of rank " + std::to_string(rank) +
                  " for the layout `" + call.attrs->get_string("layout") + "`, and `" +
                  to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  call.solver.require(as_tensor(data).dtype, PrimOperands::kFloat);
  call.solver.require(as_tensor(grid).dtype, PrimOperands::kFloat);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape from = with_rank(call, as_tensor(data).shape, rank);
  const Shape points = with_rank(call, as_tensor(grid).shape, rank);
  call.solver.unify(points[0], from[0]);
  std::vector<std::size_t> spatial;
  for (std::size_t axis = 2; axis < rank; ++axis) spatial.push_back(axis);
  check_has_elements(call, from, spatial);
  call.solver.unify(points[1], Dim(static_cast<std::int64_t>(rank) - 2));
  std::vector<Dim> dims = points.dims();
  dims[1] = from[1];
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

struct Sampling {
  std::string method, padding;
  bool align_corners;
};

// A position mirrored at both ends of the axis, as often as it takes to come inside.
Scalar mirrored(const Scalar& x, const Scalar& length, double start) {
  const Scalar some = max_of(length, length.number(1));
  const Scalar far = abs_of(x - start);
  const Scalar times = floor_of(far / some);
  const Scalar rest = far - times * some;
  const Scalar is_even = times - floor_of(times * 0.5) * 2.0 == 0;
  return choose(is_even, rest + start, some - rest + start);
}

// The same for a whole number.
Scalar mirrored_index(const Scalar& index, const Expr& extent, bool align_corners) {
  const Scalar length = Scalar(extent) * 2 - (align_corners ? 2 : 0);
  const Scalar period = max_of(length, build::index_constant(1));
  const Scalar inside = build::prim(Prim::FloorMod, {index, period});
  return min_of(inside, length - inside - (align_corners ? 0 : 1));
}

// Where coordinate `x` of the grid, -1 .. 1, lies on an axis of the data.
Scalar grid_position(const Sampling& how, const Scalar& x, const Expr& extent) {
  const Scalar size = as_number(extent, x.dtype());
  const Scalar at = how.align_corners ? (x + 1) * ((size - 1) * 0.5) : (x + 1) * (size * 0.5) - 0.5;
  if (how.method == "bicubic" || how.padding == "zeros") return at;
  const Scalar last = size - 1;
  const auto bounded = [&](const Scalar& y) { return min_of(max_of(y, y.number(0)), last); };
  if (how.padding == "border") return bounded(at);
  return bounded(how.align_corners ? mirrored(at, last, 0) : mirrored(at, size, -0.5));
}

TapRule sampling_taps(const Sampling& how, const Expr& extent) {
  const auto within = [=](const Scalar& index) {
    return choose(is_within(index, extent), index, build::index_constant(-1));
  };
  if (how.method == "nearest") {
    return {1,
            [=](const Scalar& x, const Scalar&) {
              return within(to_index(build::prim(Prim::Round, {x})));
            },
            nullptr};
  }
  if (how.method == "bilinear") return linear_taps(extent, true);
  const auto place = [=](const Scalar& x, const Scalar& tap) {
    const Scalar index = floor_index(x) + tap - 1;
    if (how.padding == "border") return clamped(index, extent);
    if (how.padding == "reflection")
      return clamped(mirrored_index(index, extent, how.align_corners), extent);
    return within(index);
  };
  const auto weight = [](const Scalar& x, const Scalar& tap) {
    const auto weights = cubic_weights(x - floor_of(x), -0.75);
    return choose(tap == 0, weights[0],
                  choose(tap == 1, weights[1], choose(tap == 2, weights[2], weights[3])));
  };
  return {4, place, weight};
}

// `taps`: of the axes that are done.
Expr sample(const Sampling& how, const DefinitionCall& call, std::vector<Taps> taps) {
  const Expr& data = call.args[0];
  const Expr& grid = call.args[1];
  const std::size_t count = dims_of(data).size() - 2;
  const DType dtype = sampling_dtype(call.tensor(0).dtype.known());
  const std::size_t axis = taps.size();
  if (axis < count) {
    Points points;
    for (std::size_t i = 0; i <= count; ++i) {
      const std::size_t from = i == 0 ? 0 : i + 1;
      points.dims.push_back(dims_of(grid)[from]);
      points.extents.push_back(extent_of(grid, from));
    }
    const Expr extent = extent_of(data, axis + 2);
    points.position = [&](const Indices& i) {
      Indices place = i;
      // The coordinates of a point stand in the order of the axes from last to first.
      place.insert(place.begin() + 1,
                   build::index_constant(static_cast<std::int64_t>(count - 1 - axis)));
      return grid_position(how, cast_scalar(dtype, build::at(grid, place)), extent);
    };
    return with_taps(points, sampling_taps(how, extent), [&](const Taps& found) {
      std::vector<Taps> more = taps;
      more.push_back(found);
      return sample(how, call, std::move(more));
    });
  }
  std::vector<Expr> extents = {extent_of(data, 0), extent_of(data, 1)};
  for (std::size_t i = 0; i < count; ++i) extents.push_back(extent_of(grid, i + 2));
  const std::int64_t tap_count = how.method == "nearest" ? 1 : how.method == "bilinear" ? 2 : 4;
  const std::vector<Expr> tap_extents(count, build::index_constant(tap_count));
  return generate(as_tensor(call.result).shape.dims(), extents, [&](const Indices& out) -> Expr {
    Indices point = out;
    point.erase(point.begin() + 1);
    const auto value = [&](const Indices& k) {
      std::vector<std::size_t> axes;
      std::vector<Scalar> places;
      Expr weight;
      for (std::size_t i = 0; i < count; ++i) {
        Indices at = point;
        at.push_back(k[i]);
        axes.push_back(i + 2);
        places.emplace_back(build::at(taps[i].places, at));
        if (!taps[i].weights) continue;
        const Expr own = build::at(taps[i].weights, at);
        weight = weight ? build::mul(weight, own) : own;
      }
      const Scalar read = read_taps(data, out, axes, places);
      return weight ? (Scalar(weight) * cast_scalar(dtype, read)).expr : read.expr;
    };
    if (tap_count == 1) return value(Indices(count, build::index_constant(0)));
    return cast_scalar(call.tensor(0).dtype.known(), reduce_over(ReduceOp::Sum, tap_extents, value))
        .expr;
  });
}

void add_grid_sample() {
  OpDef def;
  def.name = "image.grid_sample";
  def.level = 5;
  def.doc =
      "The data read at the points of a grid.\n"
      "A point has the coordinates x, y (and z) in channels 0, 1 (and 2) of the grid; -1 and 1 are "
      "the centres of\nthe first and last elements with `align_corners`, else their outer edges. "
      "Beyond the ends lie zeros, the\nlast elements (`border`) or mirror images (`reflection`). "
      "`nearest` takes the even element half way between\ntwo; `bicubic` has the parameter -0.75 "
      "and is for images only. A coordinate that is NaN lies outside.";
  def.example =
      "image.grid_sample([[[[1.0, 3.0]]]], [[[[0.0, 1.0]], [[-1.0, -1.0]]]])\n"
      "// expect: [[[[2.0, 3.0]]]]";
  def.inputs = {{"data", "batch, channels and two or three spatial axes"},
                {"grid", "batch, coordinates and the spatial axes of the result"}};
  def.attrs = {
      optional_attr("method", AttrKind::String, "bilinear", "nearest, bilinear or bicubic"),
      optional_attr("layout", AttrKind::String, "NCHW", "NCHW or NCDHW"),
      optional_attr("padding_mode", AttrKind::String, "zeros", "zeros, border or reflection"),
      optional_attr("align_corners", AttrKind::Bool, true,
                    "-1 and 1 are the centres of the elements at the ends")};
  def.type_rule = grid_sample_rule;
  def.definition = [](const DefinitionCall& call) {
    const Sampling how{call.attrs->get_string("method"), call.attrs->get_string("padding_mode"),
                       call.attrs->get_bool("align_corners")};
    return sample(how, call, {});
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_grid_operators() {
  add_affine_grid();
  add_grid_sample();
}

}  // namespace relay::stdlib
