// Resizing along spatial axes: image.resize1d, image.resize2d, image.resize3d, nn.upsampling,
// nn.upsampling3d. Axis by axis, each element of the result is a sum of a few neighbours; which
// ones, and with what weights, are small vectors along the axis.

#include <cmath>

#include "lang/attrs_struct.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

struct Resizing {
  std::string method;    // nearest_neighbor, linear, cubic
  std::string mode;      // how positions of the result map to those of the data
  std::string rounding;  // of nearest_neighbor; "" follows the mode
  std::vector<double> roi_start, roi_end;
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;
  double outside = 0;  // what tf_crop_and_resize reads beyond the data
  std::vector<std::size_t> axes;
  std::vector<Expr> targets;  // extents of the result along `axes`
  std::vector<Dim> dims;      // of the result
};

struct ResizedAxis {
  Expr from, to;  // extents
  double roi_start, roi_end;
};

// Where element `i` of the result lies on the axis of the data.
Scalar source_position(const Resizing& how, const ResizedAxis& axis, const Scalar& i, DType dtype) {
  const Scalar from = as_number(axis.from, dtype);
  const Scalar to = as_number(axis.to, dtype);
  const Scalar x = cast_scalar(dtype, i);
  const Scalar steps = max_of(Scalar(axis.to) - 1, build::index_constant(1));
  const Scalar intervals =
      as_number(constant_of(axis.to)
                    ? build::index_constant(std::max<std::int64_t>(1, *constant_of(axis.to) - 1))
                    : steps.expr,
                dtype);
  const bool is_single = constant_of(axis.to) == 1;
  if (how.mode == "align_corners") return (from - 1) / intervals * x;
  if (how.mode == "asymmetric") return from / to * x;
  if (how.mode == "tf_half_pixel_for_nn") return (x + 0.5) * (from / to);
  if (how.mode == "tf_crop_and_resize") {
    if (is_single) return 0.5 * (axis.roi_start + axis.roi_end) * (from - 1);
    return axis.roi_start * (from - 1) +
           x * ((axis.roi_end - axis.roi_start) * (from - 1) / intervals);
  }
  if (how.mode == "pytorch_half_pixel" && is_single) return x.number(0);
  return (x + 0.5) * (from / to) - 0.5;
}

// The element next to a position.
Scalar nearest(const Resizing& how, const ResizedAxis& axis, const Scalar& i, DType dtype) {
  const std::string by_mode = how.mode == "align_corners" ? "round" : "floor";
  const std::string& rounding = how.rounding.empty() ? by_mode : how.rounding;
  if (how.mode == "asymmetric" && rounding == "floor")  // exact, whatever the extents
    return build::prim(Prim::FloorDiv, {i * Scalar(axis.from), axis.to});
  const Scalar x = source_position(how, axis, i, dtype);
  constexpr double kSlack = 1e-5;  // what rounding may have taken from a whole number
  if (rounding == "floor") return floor_index(x + kSlack);
  if (rounding == "ceil") return to_index(ceil_of(x - kSlack));
  if (rounding == "round_prefer_floor") return to_index(ceil_of(x - 0.5));
  if (rounding == "round_prefer_ceil") return floor_index(x + 0.5);
  return to_index(round_away(x));
}

Expr along(const Expr& extent, const std::string& name,
           const std::function<Expr(const Scalar&)>& element,
           const std::function<Expr(const Expr&)>& body) {
  const Dim dim = constant_of(extent) ? Dim(*constant_of(extent)) : Dim::any();
  const auto* term = lang::as<lang::DimTerm>(extent);
  return build::let(
      name,
      generate({term ? term->dim : dim}, {extent}, [&](const Indices& i) { return element(i[0]); }),
      body);
}

std::vector<Expr> extents_with(const Expr& data, std::size_t axis, const Expr& extent) {
  std::vector<Expr> extents;
  for (std::size_t i = 0; i < dims_of(data).size(); ++i) extents.push_back(extent_of(data, i));
  extents[axis] = extent;
  return extents;
}

Expr nearest_resized(const Resizing& how, const Expr& data, const std::vector<ResizedAxis>& axes,
                     DType dtype, std::vector<Expr> picks = {}) {
  const std::size_t i = picks.size();
  if (i < axes.size()) {
    return along(
        axes[i].to, "nearest",
        [&](const Scalar& x) { return clamped(nearest(how, axes[i], x, dtype), axes[i].from); },
        [&](const Expr& pick) {
          std::vector<Expr> more = picks;
          more.push_back(pick);
          return nearest_resized(how, data, axes, dtype, std::move(more));
        });
  }
  std::vector<Expr> extents = extents_with(data, how.axes[0], axes[0].to);
  for (std::size_t k = 1; k < axes.size(); ++k) extents[how.axes[k]] = axes[k].to;
  return generate(how.dims, extents, [&](const Indices& out) {
    Indices place = out;
    for (std::size_t k = 0; k < axes.size(); ++k)
      place[how.axes[k]] = build::at(picks[k], {out[how.axes[k]]});
    return build::at(data, place);
  });
}

// The sum of `taps` neighbours of each element along one axis, of which the first is at
// floor + `first`.
Expr weighted_sum(const Resizing& how, const Expr& data, const ResizedAxis& axis, std::size_t at,
                  const Indices& out, const Expr& floors, const Expr& fractions, DType dtype) {
  const Scalar floor = build::at(floors, {out[at]});
  const Scalar t = build::at(fractions, {out[at]});
  const auto tap = [&](int offset) -> Scalar {
    Indices place = out;
    place[at] = clamped(floor + offset, axis.from);
    return cast_scalar(dtype, build::at(data, place));
  };
  if (how.method == "linear") return lerp(tap(0), tap(1), t);
  const std::array<Scalar, 4> weights = cubic_weights(t, how.cubic_alpha);
  Expr sum, weight_sum;
  for (int k = 0; k < 4; ++k) {
    Scalar weight = weights[static_cast<std::size_t>(k)];
    if (how.cubic_exclude) {
      weight = choose(is_within(floor + (k - 1), axis.from), weight, weight.number(0));
      weight_sum = weight_sum ? (Scalar(weight_sum) + weight).expr : weight.expr;
    }
    const Scalar part = tap(k - 1) * weight;
    sum = sum ? (Scalar(sum) + part).expr : part.expr;
  }
  return how.cubic_exclude ? (Scalar(sum) / Scalar(weight_sum)).expr : sum;
}

// The data resized along axes[0 .. count).
Expr interpolated(const Resizing& how, const Expr& data, const std::vector<ResizedAxis>& axes,
                  std::size_t count, DType dtype) {
  if (count == 0) return data;
  const ResizedAxis& axis = axes[count - 1];
  const std::size_t at = how.axes[count - 1];
  const auto position = [&](const Scalar& x) { return source_position(how, axis, x, dtype); };
  return along(
      axis.to, "floor", [&](const Scalar& x) { return floor_index(position(x)); },
      [&](const Expr& floors) {
        return along(
            axis.to, "fraction",
            [&](const Scalar& x) { return position(x) - floor_of(position(x)); },
            [&](const Expr& fractions) {
              std::vector<Dim> dims = dims_of(data);
              dims[at] = how.dims[at];
              const Expr stage =
                  generate(dims, extents_with(data, at, axis.to), [&](const Indices& out) {
                    return weighted_sum(how, data, axis, at, out, floors, fractions, dtype);
                  });
              return build::let("resized", stage, [&](const Expr& resized) {
                return interpolated(how, resized, axes, count - 1, dtype);
              });
            });
      });
}

// The result in its dtype, with the value for positions beyond the data.
Expr finished(const Resizing& how, const Expr& resized, const std::vector<ResizedAxis>& axes,
              DType dtype, DType out_dtype) {
  const bool crops = how.mode == "tf_crop_and_resize";
  if (!crops && tensor_type_of(resized).dtype.known() == out_dtype) return resized;
  return generate_over(resized, how.dims.size(), [&](const Indices& out) {
    Scalar value = cast_scalar(out_dtype, build::at(resized, out));
    if (!crops) return value.expr;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Scalar x = source_position(how, axes[i], out[how.axes[i]], dtype);
      const Scalar is_inside = (x >= 0) & (x <= as_number(axes[i].from, dtype) - 1);
      value = choose(is_inside, value, value.number(how.outside));
    }
    return value.expr;
  });
}

Expr resize(const Resizing& how, const Expr& data, DType out_dtype) {
  const DType data_dtype = tensor_type_of(data).dtype.known();
  const DType dtype = sampling_dtype(data_dtype);
  std::vector<ResizedAxis> axes;
  for (std::size_t i = 0; i < how.axes.size(); ++i)
    axes.push_back(
        {extent_of(data, how.axes[i]), how.targets[i], how.roi_start[i], how.roi_end[i]});
  const Expr resized = how.method == "nearest_neighbor"
                           ? nearest_resized(how, data, axes, dtype)
                           : interpolated(how, data, axes, axes.size(), dtype);
  return build::let("resized", resized, [&](const Expr& result) {
    return finished(how, result, axes, dtype, out_dtype);
  });
}

// --- Type rules ---

// Result: the data's type with other extents along the spatial axes.
RuleOutcome spatial_rule(TypeCall& call, std::size_t count, const DTypeTerm& dtype,
                         const std::function<Dim(std::size_t, const Dim&)>& target) {
  const AxisLayout layout = layout_of(call, "layout", "NC", spatial_letters(count));
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  if (shape.has_rank() && shape.rank() != layout.rank) {
    call.fail(DiagnosticKind::RankMismatch,
              "`" + call.op.name + "` takes data of rank " + std::to_string(layout.rank) +
                  ", and `" + to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  const Shape known = result_shape(call, dtype);
  const Shape from = with_rank(call, shape, layout.rank);
  std::vector<Dim> dims = from.dims();
  for (std::size_t i = 0; i < count; ++i) {
    Dim& dim = dims[layout.spatial[i]];
    const Dim to = target(i, dim);
    if (dim.is_constant(0) && to.is_constant() && !to.is_constant(0)) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "axis " + std::to_string(layout.spatial[i]) + " of `" + to_string(shape) +
                    "` has no elements to fill " + to.to_string() + " from");
    }
    dim = to;
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

constexpr std::initializer_list<const char*> kCoordinateModes = {
    "half_pixel",         "align_corners",        "asymmetric",
    "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize"};

RuleOutcome resize_rule(TypeCall& call, std::size_t count) {
  check_one_of(call, "method", {"nearest_neighbor", "linear", "cubic"});
  check_one_of(call, "coordinate_transformation_mode", kCoordinateModes);
  check_one_of(call, "rounding_method",
               {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  if (call.attrs->is_null("size")) {
    lang::fail(DiagnosticKind::MissingAttribute, "`" + call.op.name + "` needs `size`", call.span);
  }
  const std::vector<std::int64_t> size = call.attrs->get_ints("size");
  if (size.size() != count) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`size` has " + std::to_string(size.size()) + " values for " +
                   std::to_string(count) + " spatial axes",
               call.span);
  }
  for (const std::int64_t extent : size) {
    if (extent < 0)
      lang::fail(DiagnosticKind::BadAttribute, "`size` must not be negative", call.span);
  }
  check_largest(call, "size");
  if (call.attrs->get_string("coordinate_transformation_mode") == "tf_crop_and_resize" &&
      (call.attrs->is_null("roi") || call.attrs->get_floats("roi").size() != 2 * count)) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`roi` must have " + std::to_string(2 * count) +
                   " values for `tf_crop_and_resize`: all starts, then all ends",
               call.span);
  }
  return spatial_rule(call, count,
                      attr_dtype(call.attrs, "out_dtype", as_tensor(call.tensor(0)).dtype),
                      [&](std::size_t i, const Dim&) { return Dim(size[i]); });
}

// How long `extent` is when enlarged by `scale`: rounded, half away from zero.
Dim scaled_extent(const Dim& extent, double scale) {
  if (extent.is_constant())
    return Dim(
        static_cast<std::int64_t>(std::round(static_cast<double>(extent.constant()) * scale)));
  if (scale == std::floor(scale)) return extent * Dim(static_cast<std::int64_t>(scale));
  return Dim::any();
}

std::vector<double> scales_of(const AttrsRef& attrs, std::size_t count) {
  std::vector<double> scales;
  if (count == 3) scales.push_back(attrs->get_float("scale_d"));
  scales.push_back(attrs->get_float("scale_h"));
  scales.push_back(attrs->get_float("scale_w"));
  return scales;
}

RuleOutcome upsampling_rule(TypeCall& call, std::size_t count) {
  if (count == 2) {
    check_one_of(call, "method", {"nearest_neighbor", "bilinear", "bicubic"});
  } else {
    check_one_of(call, "method", {"nearest_neighbor", "trilinear", "tricubic"});
    check_one_of(call, "coordinate_transformation_mode",
                 {"half_pixel", "align_corners", "asymmetric"});
  }
  const std::vector<double> scales = scales_of(call.attrs, count);
  for (const double scale : scales) {
    if (!(scale >= 0) || scale > 1e6)
      lang::fail(DiagnosticKind::BadAttribute, "a scale must not be negative, nor above 1000000",
                 call.span);
  }
  return spatial_rule(
      call, count, as_tensor(call.tensor(0)).dtype,
      [&](std::size_t i, const Dim& extent) { return scaled_extent(extent, scales[i]); });
}

// --- Definitions ---

Expr resize_definition(const DefinitionCall& call, std::size_t count) {
  const AttrsRef& attrs = call.attrs;
  Resizing how;
  how.method = attrs->get_string("method");
  how.mode = attrs->get_string("coordinate_transformation_mode");
  how.rounding = attrs->get_string("rounding_method");
  how.cubic_alpha = attrs->get_float("cubic_alpha");
  how.cubic_exclude = attrs->get_int("cubic_exclude") != 0;
  how.outside = attrs->get_float("extrapolation_value");
  std::vector<double> roi =
      attrs->is_null("roi") ? std::vector<double>() : attrs->get_floats("roi");
  roi.resize(2 * count, 0);
  how.roi_start.assign(roi.begin(), roi.begin() + static_cast<std::ptrdiff_t>(count));
  how.roi_end.assign(roi.begin() + static_cast<std::ptrdiff_t>(count), roi.end());
  how.axes = known_layout(attrs->get_string("layout"), "NC", spatial_letters(count)).spatial;
  for (const std::int64_t extent : attrs->get_ints("size"))
    how.targets.push_back(build::index_constant(extent));
  const auto& result = as_tensor(call.result);
  how.dims = result.shape.dims();
  return resize(how, call.args[0], result.dtype.known());
}

Expr upsampling_definition(const DefinitionCall& call, std::size_t count) {
  const AttrsRef& attrs = call.attrs;
  Resizing how;
  how.method = attrs->get_string("method");
  if (how.method != "nearest_neighbor") how.method = how.method.substr(count == 2 ? 2 : 3);
  how.mode = count == 3 ? attrs->get_string("coordinate_transformation_mode")
             : attrs->get_bool("align_corners") ? "align_corners"
                                                : "asymmetric";
  how.roi_start.resize(count);
  how.roi_end.resize(count);
  how.axes = known_layout(attrs->get_string("layout"), "NC", spatial_letters(count)).spatial;
  const auto& result = as_tensor(call.result);
  how.dims = result.shape.dims();
  const std::vector<double> scales = scales_of(attrs, count);
  for (std::size_t i = 0; i < count; ++i) {
    const Dim& dim = how.dims[how.axes[i]];
    if (!dim.is_any()) {
      how.targets.push_back(extent_expr(dim));
      continue;
    }
    const Scalar extent = as_number(extent_of(call.args[0], how.axes[i]), DType::Float64);
    how.targets.push_back(to_index(round_away(extent * scales[i])));
  }
  return resize(how, call.args[0], result.dtype.known());
}

// --- Records ---

void add_resize(const char* name, std::size_t count, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 5;
  def.doc =
      "The data resized along its spatial axes to `size` elements.\n"
      "Element `x` of the result lies at a position of the data that the coordinate transformation "
      "gives, with\n`scale = extent / size`: `half_pixel` (x + 0.5) * scale - 0.5, `asymmetric` x "
      "* "
      "scale, `align_corners` x *\n(extent - 1) / (size - 1), `pytorch_half_pixel` as half_pixel "
      "but "
      "0 for a size of 1, `tf_half_pixel_for_nn`\n(x + 0.5) * scale, `tf_crop_and_resize` inside "
      "`roi`. `nearest_neighbor` takes one element, `linear` two along\neach axis, `cubic` four; "
      "beyond the ends the last element counts. Values are interpolated in float32\n(float64 for "
      "float64) and cast, integers towards zero.";
  def.example = example;
  const std::string letters(spatial_letters(count));
  def.inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
  def.attrs = {
      nullable_attr("size", AttrKind::IntList, "extents of the result along the spatial axes"),
      nullable_attr("roi", AttrKind::FloatList,
                    "for `tf_crop_and_resize`: all starts and then all ends, from 0 to 1"),
      optional_attr("layout", AttrKind::String, "NC" + letters, "which axis holds what"),
      optional_attr("method", AttrKind::String, "linear", "nearest_neighbor, linear or cubic"),
      optional_attr("coordinate_transformation_mode", AttrKind::String, "half_pixel",
                    "where the elements of the result lie"),
      optional_attr("rounding_method", AttrKind::String, "round",
                    "of nearest_neighbor: round (half away from zero), round_prefer_floor, "
                    "round_prefer_ceil, floor or ceil; empty: round for align_corners, else floor"),
      optional_attr("cubic_alpha", AttrKind::Float, -0.5, "the parameter of the cubic kernel"),
      optional_attr("cubic_exclude", AttrKind::Int, 0,
                    "1: elements beyond the ends have no weight"),
      optional_attr("extrapolation_value", AttrKind::Float, 0.0,
                    "for `tf_crop_and_resize`: what lies beyond the data"),
      nullable_attr("out_dtype", AttrKind::DType, "dtype of the result; None: that of the data")};
  def.type_rule = [count](TypeCall& call) { return resize_rule(call, count); };
  def.definition = [count](const DefinitionCall& call) { return resize_definition(call, count); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_upsampling(const char* name, std::size_t count, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.doc =
      "The data enlarged along its spatial axes by factors; an extent is rounded, half away from "
      "zero.\n";
  def.doc += count == 2
                 ? "Interpolation is that of `image.resize2d` with the mode `asymmetric`, or "
                   "`align_corners`."
                 : "Interpolation is that of `image.resize3d`.";
  def.example = example;
  def.inputs = {{"data", "batch, channels and spatial axes as `layout` says"}};
  lang::set_attrs_struct(def.name, count == 3 ? "UpSampling3DAttrs" : "UpSamplingAttrs");
  if (count == 3) def.attrs.push_back(required_attr("scale_d", AttrKind::Float, "factor of depth"));
  def.attrs.push_back(required_attr("scale_h", AttrKind::Float, "factor of height"));
  def.attrs.push_back(required_attr("scale_w", AttrKind::Float, "factor of width"));
  def.attrs.push_back(optional_attr("layout", AttrKind::String,
                                    "NC" + std::string(spatial_letters(count)),
                                    "which axis holds what"));
  def.attrs.push_back(optional_attr("method", AttrKind::String, "nearest_neighbor",
                                    count == 2 ? "nearest_neighbor, bilinear or bicubic"
                                               : "nearest_neighbor, trilinear or tricubic"));
  if (count == 2) {
    def.attrs.push_back(optional_attr("align_corners", AttrKind::Bool, false,
                                      "the corners of data and result lie on each other"));
  } else {
    def.attrs.push_back(optional_attr("coordinate_transformation_mode", AttrKind::String,
                                      "half_pixel", "half_pixel, align_corners or asymmetric"));
  }
  def.type_rule = [count](TypeCall& call) { return upsampling_rule(call, count); };
  def.definition = [count](const DefinitionCall& call) {
    return upsampling_definition(call, count);
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_resize_operators() {
  add_resize("image.resize1d", 1,
             "image.resize1d([[[1.0, 3.0]]], size=[4])\n// expect: [[[1.0, 1.5, 2.5, 3.0]]]");
  add_resize("image.resize2d", 2,
             "image.resize2d([[[[1.0, 3.0]]]], size=[1, 4], method=\"nearest_neighbor\", "
             "rounding_method=\"\",\n  coordinate_transformation_mode=\"asymmetric\")\n"
             "// expect: [[[[1.0, 1.0, 3.0, 3.0]]]]");
  add_resize("image.resize3d", 3,
             "image.resize3d([[[[[1.0, 3.0]]]]], size=[1, 1, 3], "
             "coordinate_transformation_mode=\"align_corners\")\n"
             "// expect: [[[[[1.0, 2.0, 3.0]]]]]");
  add_upsampling("nn.upsampling", 2,
                 "nn.upsampling([[[[1.0, 3.0]]]], scale_h=1.0, scale_w=2.0)\n"
                 "// expect: [[[[1.0, 1.0, 3.0, 3.0]]]]");
  add_upsampling("nn.upsampling3d", 3,
                 "nn.upsampling3d([[[[[1.0, 3.0]]]]], scale_d=1.0, scale_h=1.0, scale_w=2.0, "
                 "method=\"trilinear\")\n// expect: [[[[[1.0, 1.5, 2.5, 3.0]]]]]");
}

}  // namespace relay::stdlib
