// image.crop_and_resize, image.dilation2d.

#include "stdlib/ops/image.h"

#include <limits>

#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- image.crop_and_resize ---

RuleOutcome crop_and_resize_rule(TypeCall& call) {
  const std::string& method = call.attrs->get_string("method");
  if (method != "bilinear" && method != "nearest_neighbor")
    bad_attribute(call, "`method` is `" + method + "`, and must be bilinear or nearest_neighbor");
  if (call.attrs->is_null("crop_size")) {
    lang::fail(DiagnosticKind::MissingAttribute, "`image.crop_and_resize` needs `crop_size`",
               call.span);
  }
  const std::vector<std::int64_t> size = call.attrs->get_ints("crop_size");
  if (size.size() != 2 || size[0] < 0 || size[1] < 0)
    bad_attribute(call, "`crop_size` must be a height and a width");
  check_largest(call, "crop_size");
  const AxisLayout layout = layout_of(call, "layout", "NC", "HW");
  if (layout.lead[0].block != 0) bad_attribute(call, "the batch axis of `layout` has no blocks");
  const Shape data = input_of_rank(call, 0, layout.rank);
  const Shape boxes = input_of_rank(call, 1, 2);
  const Shape indices = input_of_rank(call, 2, 1);
  check_has_elements(call, data, {layout.lead[0].axis, layout.spatial[0], layout.spatial[1]});
  call.solver.require(as_tensor(call.tensor(1)).dtype, PrimOperands::kNumeric);
  call.solver.require(as_tensor(call.tensor(2)).dtype, PrimOperands::kInt);
  call.solver.unify(boxes[1], Dim(4));
  call.solver.unify(indices[0], boxes[0]);
  const Shape known =
      result_shape(call, attr_dtype(call.attrs, "out_dtype", as_tensor(call.tensor(0)).dtype));
  std::vector<Dim> dims = data.dims();
  dims[layout.lead[0].axis] = boxes[0];
  for (std::size_t i = 0; i < 2; ++i) dims[layout.spatial[i]] = Dim(size[i]);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

struct CropAxis {
  std::size_t axis;  // of data and result
  std::int64_t size;
  std::int64_t start, end;  // columns of the boxes
};

Scalar crop_position(const DefinitionCall& call, const CropAxis& crop, const Expr& box,
                     const Expr& index, DType dtype) {
  const auto side = [&](std::int64_t column) {
    return cast_scalar(dtype, build::at(call.args[1], {box, build::index_constant(column)}));
  };
  const Scalar reach = as_number(extent_of(call.args[0], crop.axis), dtype) - 1;
  if (crop.size == 1) return (side(crop.start) + side(crop.end)) * 0.5 * reach;
  const Scalar step =
      (side(crop.end) - side(crop.start)) * reach / static_cast<double>(crop.size - 1);
  return side(crop.start) * reach + cast_scalar(dtype, index) * step;
}

// Inside the data, with its box's image: else the result is the extrapolation value.
Expr cropped(const DefinitionCall& call, const CropAxis& rows, const CropAxis& columns,
             const Taps& row_taps, const Taps& column_taps) {
  const Expr& data = call.args[0];
  const auto& result = as_tensor(call.result);
  const DType dtype = sampling_dtype(call.tensor(0).dtype.known());
  const DType out_dtype = result.dtype.known();
  const std::size_t batch = known_layout(call.attrs->get_string("layout"), "NC", "HW").lead[0].axis;
  std::vector<Expr> extents;
  for (std::size_t i = 0; i < dims_of(data).size(); ++i) extents.push_back(extent_of(data, i));
  extents[batch] = extent_of(call.args[1], 0);
  for (const CropAxis& crop : {rows, columns})
    extents[crop.axis] = build::index_constant(crop.size);
  return generate(result.shape.dims(), extents, [&](const Indices& out) {
    const Expr& box = out[batch];
    const Scalar image = cast_scalar(DType::Int64, build::at(call.args[2], {box}));
    Scalar is_inside = is_within(image, extent_of(data, batch));
    Indices place = out;
    place[batch] = clamped(image, extent_of(data, batch));
    for (const CropAxis& crop : {rows, columns}) {
      const Scalar x = crop_position(call, crop, box, out[crop.axis], dtype);
      const Scalar last = as_number(extent_of(data, crop.axis), dtype) - 1;
      is_inside = is_inside & (x >= 0) & (x <= last);
    }
    const auto read = [&](const Indices& k) -> Scalar {
      place[rows.axis] = build::at(row_taps.places, {box, out[rows.axis], k[0]});
      place[columns.axis] = build::at(column_taps.places, {box, out[columns.axis], k[1]});
      return build::at(data, place);
    };
    const auto weighted = [&](const Indices& k) -> Expr {
      const Scalar weight = build::at(row_taps.weights, {box, out[rows.axis], k[0]});
      return cast_scalar(dtype, read(k)) * weight *
             Scalar(build::at(column_taps.weights, {box, out[columns.axis], k[1]}));
    };
    const Expr two = build::index_constant(2);
    const Expr first = build::index_constant(0);
    const Scalar value =
        cast_scalar(out_dtype, row_taps.weights ? reduce_over(ReduceOp::Sum, {two, two}, weighted)
                                                : read({first, first}).expr);
    const double outside = call.attrs->get_float("extrapolation_value");
    return choose(is_inside, value, value.number(outside)).expr;
  });
}

Expr crop_and_resize(const DefinitionCall& call) {
  const AxisLayout layout = known_layout(call.attrs->get_string("layout"), "NC", "HW");
  const std::vector<std::int64_t> size = call.attrs->get_ints("crop_size");
  const DType dtype = sampling_dtype(call.tensor(0).dtype.known());
  const CropAxis rows{layout.spatial[0], size[0], 0, 2};
  const CropAxis columns{layout.spatial[1], size[1], 1, 3};
  const auto taps_along = [&](const CropAxis& crop, const std::function<Expr(const Taps&)>& body) {
    Points points;
    points.dims = {dims_of(call.args[1])[0], Dim(crop.size)};
    points.extents = {extent_of(call.args[1], 0), build::index_constant(crop.size)};
    points.position = [&](const Indices& i) {
      return crop_position(call, crop, i[0], i[1], dtype);
    };
    const Expr extent = extent_of(call.args[0], crop.axis);
    TapRule rule = linear_taps(extent, false);
    if (call.attrs->get_string("method") == "nearest_neighbor") {
      const auto place = [=](const Scalar& x, const Scalar&) {
        return clamped(to_index(round_away(x)), extent);
      };
      rule = {1, place, nullptr};
    }
    return with_taps(points, rule, body);
  };
  return taps_along(rows, [&](const Taps& row_taps) {
    return taps_along(columns, [&](const Taps& column_taps) {
      return cropped(call, rows, columns, row_taps, column_taps);
    });
  });
}

void add_crop_and_resize() {
  OpDef def;
  def.name = "image.crop_and_resize";
  def.level = 5;
  def.doc =
      "Boxes of images, each resized to the same height and width.\n"
      "A box is `y1, x1, y2, x2` where 0 and 1 are the centres of the first and last elements; a "
      "crop of one row or\ncolumn takes the middle of its box. What lies beyond the image, or "
      "belongs to a box whose image does not\nexist, is `extrapolation_value`.";
  def.example =
      "image.crop_and_resize([[[[1.0, 2.0, 3.0]]]], [[0.0, 0.5, 0.0, 1.5]], [0], crop_size=[1, 3], "
      "extrapolation_value=9.0)\n// expect: [[[[2.0, 3.0, 9.0]]]]";
  def.inputs = {{"data", "images: batch, channels, height and width as `layout` says"},
                {"boxes", "a row y1, x1, y2, x2 for each box"},
                {"box_indices", "which image each box is of"}};
  def.attrs = {
      nullable_attr("crop_size", AttrKind::IntList, "height and width of the result"),
      optional_attr("layout", AttrKind::String, "NCHW", "which axis holds what"),
      optional_attr("method", AttrKind::String, "bilinear", "bilinear or nearest_neighbor"),
      optional_attr("extrapolation_value", AttrKind::Float, 0.0, "what lies beyond the images"),
      nullable_attr("out_dtype", AttrKind::DType, "dtype of the result; None: that of the data")};
  def.type_rule = crop_and_resize_rule;
  def.definition = crop_and_resize;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- image.dilation2d ---

// Relay also writes four strides and dilations, of which the first two count.
std::vector<std::int64_t> first_two(const AttrsRef& attrs, const char* key) {
  std::vector<std::int64_t> values = attrs->get_ints(key);
  values.resize(2, values.empty() ? 1 : values[0]);
  return values;
}

// Top, left, bottom, right.
Padding dilation_padding(const AttrsRef& attrs) { return padding_of(attrs, 2); }

AxisLayout kernel_layout_of(const std::string& letters) {
  // A kernel without outputs: the letters of channels, height and width.
  return known_layout("O" + letters, "OI", "HW");
}

RuleOutcome dilation2d_rule(TypeCall& call) {
  for (const char* key : {"strides", "dilations"}) {
    for (const std::int64_t value : call.attrs->get_ints(key)) {
      if (value < 1) bad_attribute(call, "`" + std::string(key) + "` must be at least 1");
    }
  }
  const std::vector<std::int64_t> padding = call.attrs->get_ints("padding");
  if (padding.size() != 1 && padding.size() != 2 && padding.size() != 4)
    bad_attribute(call, "`padding` has " + std::to_string(padding.size()) +
                            " values, and must have 1, 2 or 4");
  for (const std::int64_t value : padding) {
    if (value < 0) bad_attribute(call, "`padding` must not be negative");
  }
  const AxisLayout layout = layout_of(call, "data_layout", "NC", "HW");
  const std::string& letters = call.attrs->get_string("kernel_layout");
  std::string sorted = letters;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != "HIW" || layout.rank != 4)
    bad_attribute(call, "`" + letters + "` is no kernel layout with the axes `IHW`, or `" +
                            layout.letters + "` has blocks");
  const AxisLayout kernel = kernel_layout_of(letters);
  const Shape data = input_of_rank(call, 0, 4);
  const Shape weight = input_of_rank(call, 1, 3);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  call.solver.unify(as_tensor(call.tensor(1)).dtype, dtype);
  call.solver.require(dtype, PrimOperands::kNumeric);
  call.solver.unify(weight[kernel.lead[1].axis - 1], data[layout.lead[1].axis]);
  const Padding around = dilation_padding(call.attrs);
  const std::vector<std::int64_t> strides = first_two(call.attrs, "strides");
  const std::vector<std::int64_t> dilations = first_two(call.attrs, "dilations");
  std::vector<Dim> dims = data.dims();
  for (std::size_t i = 0; i < 2; ++i) {
    Dim& dim = dims[layout.spatial[i]];
    dim = window_places(call, dim, weight[kernel.spatial[i] - 1], around.front[i], around.back[i],
                        strides[i], dilations[i]);
  }
  const Shape known = result_shape(call, attr_dtype(call.attrs, "out_dtype", dtype));
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// What lies around the data: the smallest finite number of the dtype.
Expr least(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return build::constant(dtype, -65504.0);
    case DType::BFloat16:
      return build::constant(dtype, -3.3895313892515355e38);
    case DType::Float32:
      return build::constant(dtype, std::numeric_limits<float>::lowest());
    case DType::Float64:
      return build::constant(dtype, std::numeric_limits<double>::lowest());
    default:
      break;
  }
  if (!lang::is_signed_int(dtype)) return build::constant_int(dtype, 0);
  const int bits = static_cast<int>(lang::size_of(dtype)) * 8;
  return build::constant_int(dtype, -(std::int64_t{1} << (bits - 2)) * 2);
}

struct Dilation {
  AxisLayout layout, kernel;
  std::vector<std::int64_t> strides, dilations;
};

Dilation dilation_of(const AttrsRef& attrs) {
  return {known_layout(attrs->get_string("data_layout"), "NC", "HW"),
          kernel_layout_of(attrs->get_string("kernel_layout")), first_two(attrs, "strides"),
          first_two(attrs, "dilations")};
}

// The sum whose largest over the taps is the result.
Expr dilation_tap(const Dilation& how, const Expr& padded, const Expr& weight, const Indices& out,
                  const Indices& taps) {
  Indices place = out;
  Indices own(3);
  own[how.kernel.lead[1].axis - 1] = out[how.layout.lead[1].axis];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t axis = how.layout.spatial[i];
    place[axis] = window_index(out[axis], how.strides[i], taps[i], how.dilations[i]);
    own[how.kernel.spatial[i] - 1] = taps[i];
  }
  return build::add(build::at(padded, place), build::at(weight, own));
}

Expr dilation2d(const DefinitionCall& call) {
  const Dilation how = dilation_of(call.attrs);
  const Expr& weight = call.args[1];
  const auto& result = as_tensor(call.result);
  const Expr padded = padded_around(call.args[0], how.layout, dilation_padding(call.attrs),
                                    least(call.tensor(0).dtype.known()));
  return build::let("padded", padded, [&](const Expr& data) {
    return build::comprehension(result.shape.dims(), [&](const Indices& out) {
      const Expr largest = reduce_over(
          ReduceOp::Max,
          {extent_of(weight, how.kernel.spatial[0] - 1),
           extent_of(weight, how.kernel.spatial[1] - 1)},
          [&](const Indices& taps) { return dilation_tap(how, data, weight, out, taps); });
      return build::cast_to(result.dtype.known(), largest);
    });
  });
}

// The adjoint of each element goes to the first tap with the largest sum: to its element of the
// data and to its weight.
std::vector<Expr> dilation2d_gradient(const GradientCall& call) {
  const Dilation how = dilation_of(call.attrs);
  const Expr& data = call.args[0];
  const Expr& weight = call.args[1];
  const Padding around = dilation_padding(call.attrs);
  const Expr padded =
      padded_around(data, how.layout, around, least(tensor_type_of(data).dtype.known()));
  const Expr width = extent_of(weight, how.kernel.spatial[1] - 1);
  const Expr all = build::mul(extent_of(weight, how.kernel.spatial[0] - 1), width);
  const auto taps_of = [&](const Expr& tap) -> Indices {
    return {build::prim(Prim::FloorDiv, {tap, width}), build::prim(Prim::FloorMod, {tap, width})};
  };
  const auto chosen = [&](const std::function<Expr(const Expr&)>& body) {
    return build::let("padded", padded, [&](const Expr& surrounded) {
      const Expr first = generate_like(call.dout, [&](const Indices& out) {
        return reduce_over(ReduceOp::ArgMax, {all}, [&](const Indices& tap) {
          return dilation_tap(how, surrounded, weight, out, taps_of(tap[0]));
        });
      });
      return build::let("largest", first, body);
    });
  };
  const Expr dout = tensor_type_of(call.dout).dtype == tensor_type_of(data).dtype
                        ? call.dout
                        : build::op("cast_like", {call.dout, data});
  const Expr data_adjoint = chosen([&](const Expr& largest) {
    const Expr into_padded = scatter_into(padded, dout, [&](const Indices& out) {
      const Indices taps = taps_of(build::at(largest, out));
      Indices place = out;
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t axis = how.layout.spatial[i];
        place[axis] = window_index(out[axis], how.strides[i], taps[i], how.dilations[i]);
      }
      return place;
    });
    Padding undone = around;
    for (auto* ends : {&undone.front, &undone.back}) {
      for (std::int64_t& width_of_end : *ends) width_of_end = -width_of_end;
    }
    return padded_around(into_padded, how.layout, undone, build::scalar_like(dout, 0));
  });
  const Expr weight_adjoint = chosen([&](const Expr& largest) {
    return scatter_into(weight, dout, [&](const Indices& out) {
      const Indices taps = taps_of(build::at(largest, out));
      Indices own(3);
      own[how.kernel.lead[1].axis - 1] = out[how.layout.lead[1].axis];
      for (std::size_t i = 0; i < 2; ++i) own[how.kernel.spatial[i] - 1] = taps[i];
      return own;
    });
  });
  return {data_adjoint, weight_adjoint};
}

void add_dilation2d() {
  OpDef def;
  def.name = "image.dilation2d";
  def.level = 2;
  def.doc =
      "Morphological dilation: the largest sum of a window of the data and the kernel, for each "
      "channel.\n"
      "Around the data lie the smallest finite numbers of its dtype. NaN wins. The adjoint goes to "
      "the first of\nequal sums.";
  def.example =
      "image.dilation2d([[[[1.0, 5.0, 2.0]]]], [[[0.0, 10.0]]])\n// expect: [[[[15.0, 12.0]]]]";
  def.inputs = {{"data", "batch, channels, height and width as `data_layout` says"},
                {"weight", "channels, height and width as `kernel_layout` says"}};
  const AttrValue ones = AttrValue::ints({1, 1});
  def.attrs = {
      optional_attr("strides", AttrKind::IntOrIntList, ones, "how far the window moves"),
      optional_attr("padding", AttrKind::IntOrIntList, AttrValue::ints({0, 0}),
                    "elements around the data: one for all, one for each axis, or top, "
                    "left, bottom and right"),
      optional_attr("dilations", AttrKind::IntOrIntList, ones,
                    "how far the elements of the window are apart"),
      optional_attr("data_layout", AttrKind::String, "NCHW", "which axis holds what"),
      optional_attr("kernel_layout", AttrKind::String, "IHW", "the same of the weight"),
      nullable_attr("out_dtype", AttrKind::DType, "dtype of the result; None: that of the data")};
  def.type_rule = dilation2d_rule;
  def.definition = dilation2d;
  def.gradient = dilation2d_gradient;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_crop_operators() {
  add_crop_and_resize();
  add_dilation2d();
}

void add_image_operators() {
  add_resize_operators();
  add_crop_operators();
  add_grid_operators();
  add_rearranging_operators();
  add_deformable_operators();
  add_correlation_operators();
}

}  // namespace relay::stdlib
