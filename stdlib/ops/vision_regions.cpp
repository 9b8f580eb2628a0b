// Regions of feature maps brought to one size: vision.roi_align, vision.roi_pool.

#include <limits>

#include "lang/attrs_struct.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

AxisLayout region_layout(const AttrsRef& attrs) {
  return known_layout(attrs->get_string("layout"), "NC", "HW");
}

// A height and a width.
std::vector<std::int64_t> check_pooled_size(const TypeCall& call) {
  const std::vector<std::int64_t> pooled = call.attrs->get_ints("pooled_size");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`pooled_size` must be a height and a width of at least 1, found " +
                   call.attrs->find("pooled_size")->to_string(),
               call.span);
  }
  check_largest(call, "pooled_size");
  return pooled;
}

// Result: for each region its channels at `pooled_size` places.
RuleOutcome pooled_region_rule(TypeCall& call) {
  check_one_of(call, "layout", {"NCHW", "NHWC"});
  const std::vector<std::int64_t> pooled = check_pooled_size(call);
  const AxisLayout layout = region_layout(call.attrs);
  const auto ranked = [&](std::size_t input, std::size_t rank) {
    return input_of_rank(call, input, rank, PrimOperands::kFloat);
  };
  const Shape data = ranked(0, 4);
  const Shape regions = ranked(1, 2);
  check_has_elements(call, data, {0, layout.spatial[0], layout.spatial[1]});
  call.solver.unify(regions[1], Dim(5));
  const Shape known = result_shape(call, as_tensor(call.tensor(0)).dtype);
  std::vector<Dim> dims = data.dims();
  dims[0] = regions[0];
  for (std::size_t i = 0; i < 2; ++i) dims[layout.spatial[i]] = Dim(pooled[i]);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// One axis of all regions: where each begins, how long it is, how long one of its `pooled` bins.
struct RegionAxis {
  const Expr& regions;
  std::int64_t start, end;  // columns
  std::int64_t pooled;
  double scale;
  DType dtype;

  Scalar side(const Expr& region, std::int64_t column) const {
    const Expr value = build::at(regions, {region, build::index_constant(column)});
    return cast_scalar(dtype, value) * scale;
  }
  Scalar begin(const Expr& region) const { return side(region, start); }
  // Malformed regions count as one element.
  Scalar bin(const Expr& region) const {
    const Scalar length = side(region, end) - side(region, start);
    return max_of(length, length.number(1)) / static_cast<double>(pooled);
  }
  // How many samples a bin has where no ratio says it.
  Scalar samples(const Expr& region) const { return to_index(ceil_of(bin(region))); }
};

RegionAxis region_axis(const AttrsRef& attrs, const Expr& data, const Expr& regions,
                       std::size_t which) {
  const std::int64_t start = which == 0 ? 2 : 1;  // rows are: image, x1, y1, x2, y2
  return {regions,
          start,
          start + 2,
          attrs->get_ints("pooled_size")[which],
          attrs->get_float("spatial_scale"),
          sampling_dtype(tensor_type_of(data).dtype.known())};
}

// --- vision.roi_align ---

struct Aligning {
  const AttrsRef& attrs;
  const Expr& data;
  const Expr& regions;
  const Type& result;
  std::int64_t samples;  // of a bin along an axis, at most
  bool adaptive;         // each region has as many as fit its size

  RegionAxis axis(std::size_t which) const { return region_axis(attrs, data, regions, which); }
  DType dtype() const { return sampling_dtype(tensor_type_of(data).dtype.known()); }
  // How many samples there are, of the region's bins along this axis.
  Scalar count(std::size_t which, const Expr& region) const {
    if (!adaptive) return build::index_constant(samples);
    return axis(which).samples(region);
  }
};

// The taps of all samples along an axis: by region, bin and sample. A sample that is not there lies
// far outside.
Expr with_samples(const Aligning& how, std::size_t which,
                  const std::function<Expr(const Taps&)>& body) {
  const RegionAxis axis = how.axis(which);
  const Expr extent = extent_of(how.data, region_layout(how.attrs).spatial[which]);
  Points points;
  points.dims = {dims_of(how.regions)[0], Dim(axis.pooled), Dim(how.samples)};
  points.extents = {extent_of(how.regions, 0), build::index_constant(axis.pooled),
                    build::index_constant(how.samples)};
  points.position = [&](const Indices& i) {
    const Scalar bin = axis.bin(i[0]);
    const Scalar count = cast_scalar(axis.dtype, how.count(which, i[0]));
    const Scalar at = axis.begin(i[0]) + cast_scalar(axis.dtype, i[1]) * bin +
                      (cast_scalar(axis.dtype, i[2]) + 0.5) * bin / count;
    if (!how.adaptive) return at;
    return choose(Scalar(i[2]) < how.count(which, i[0]), at, at.number(-2));
  };
  const Scalar last = as_number(extent, axis.dtype) - 1;
  const auto inside = [=](const Scalar& x) { return min_of(max_of(x, x.number(0)), last); };
  const auto place = [=](const Scalar& x, const Scalar& tap) {
    return clamped(floor_index(inside(x)) + tap, extent);
  };
  const auto weight = [=](const Scalar& x, const Scalar& tap) {
    const Scalar t = inside(x) - floor_of(inside(x));
    const Scalar is_near = (x >= -1) & (x <= last + 1);
    return choose(is_near, choose(tap == 0, 1.0 - t, t), t.number(0));
  };
  return with_taps(points, {2, place, weight}, body);
}

// What the taps `y` and `x` (sample and neighbour) add to element `out`.
Scalar aligned_tap(const Aligning& how, const Taps& rows, const Taps& columns, const Indices& out,
                   const Indices& y, const Indices& x) {
  const AxisLayout layout = region_layout(how.attrs);
  const std::size_t row = layout.spatial[0];
  const std::size_t column = layout.spatial[1];
  const Indices from_rows = {out[0], out[row], y[0], y[1]};
  const Indices from_columns = {out[0], out[column], x[0], x[1]};
  const Expr images = extent_of(how.data, 0);
  const Scalar image = to_index(
      cast_scalar(how.dtype(), build::at(how.regions, {out[0], build::index_constant(0)})));
  Indices place(4);
  place[0] = clamped(image, images);
  place[layout.lead[1].axis] = out[layout.lead[1].axis];
  place[row] = build::at(rows.places, from_rows);
  place[column] = build::at(columns.places, from_columns);
  const Scalar value = cast_scalar(how.dtype(), build::at(how.data, place));
  const Scalar product = Scalar(build::at(rows.weights, from_rows)) *
                         Scalar(build::at(columns.weights, from_columns)) * value;
  return choose(is_within(image, images), product, product.number(0));
}

std::vector<Expr> result_extents(const Aligning& how) {
  const AxisLayout layout = region_layout(how.attrs);
  std::vector<Expr> extents(4);
  extents[0] = extent_of(how.regions, 0);
  extents[layout.lead[1].axis] = extent_of(how.data, layout.lead[1].axis);
  for (std::size_t i = 0; i < 2; ++i)
    extents[layout.spatial[i]] = build::index_constant(how.axis(i).pooled);
  return extents;
}

Expr aligned_mean(const Aligning& how, const Taps& rows, const Taps& columns) {
  const std::vector<Dim>& dims = as_tensor(how.result).shape.dims();
  const Expr samples = build::index_constant(how.samples);
  const Expr two = build::index_constant(2);
  return generate(dims, result_extents(how), [&](const Indices& out) {
    const Scalar sum =
        reduce_over(ReduceOp::Sum, {samples, two, samples, two}, [&](const Indices& k) -> Expr {
          return aligned_tap(how, rows, columns, out, {k[0], k[1]}, {k[2], k[3]});
        });
    const Scalar count = how.count(0, out[0]) * how.count(1, out[0]);
    return cast_scalar(as_tensor(how.result).dtype.known(), sum / cast_scalar(sum.dtype(), count))
        .expr;
  });
}

// The samples with one more axis, of which `max` is taken.
Expr aligned_max(const Aligning& how, const Taps& rows, const Taps& columns) {
  std::vector<Dim> dims = as_tensor(how.result).shape.dims();
  std::vector<Expr> extents = result_extents(how);
  dims.emplace_back(how.samples * how.samples);
  extents.push_back(build::index_constant(how.samples * how.samples));
  const Expr two = build::index_constant(2);
  const Expr all = generate(dims, extents, [&](const Indices& k) {
    const Indices out(k.begin(), k.end() - 1);
    const Scalar y = floor_div(k.back(), how.samples);
    const Scalar x = floor_mod(k.back(), how.samples);
    const Scalar sum = reduce_over(ReduceOp::Sum, {two, two}, [&](const Indices& side) -> Expr {
      return aligned_tap(how, rows, columns, out, {y, side[0]}, {x, side[1]});
    });
    if (!how.adaptive) return sum.expr;
    const Scalar is_there = (y < how.count(0, out[0])) & (x < how.count(1, out[0]));
    return choose(is_there, sum, sum.number(-std::numeric_limits<double>::infinity())).expr;
  });
  return build::let("samples", all, [&](const Expr& values) {
    const Expr largest = op("max", {values}, {{"axis", -1}});
    const DType dtype = as_tensor(how.result).dtype.known();
    return tensor_type_of(largest).dtype.known() == dtype
               ? largest
               : op("cast", {largest}, {{"dtype", dtype}});
  });
}

Expr aligned(const Aligning& how) {
  return with_samples(how, 0, [&](const Taps& rows) {
    return with_samples(how, 1, [&](const Taps& columns) {
      return how.attrs->get_string("mode") == "avg" ? aligned_mean(how, rows, columns)
                                                    : aligned_max(how, rows, columns);
    });
  });
}

std::vector<AttrSpec> align_attrs() {
  return {required_attr("pooled_size", AttrKind::IntList, "height and width of the result"),
          required_attr("spatial_scale", AttrKind::Float,
                        "elements of the data per unit of the regions' coordinates"),
          optional_attr("sample_ratio", AttrKind::Int, -1,
                        "samples of a bin along each axis; 0 or less: as many as the bin has "
                        "elements, rounded up"),
          optional_attr("layout", AttrKind::String, "NCHW", "NCHW or NHWC"),
          optional_attr("mode", AttrKind::String, "avg", "avg or max, of a bin's samples")};
}

RuleOutcome align_rule(TypeCall& call) {
  check_one_of(call, "mode", {"avg", "max"});
  count_attr(call, "sample_ratio", std::numeric_limits<std::int64_t>::min());
  return pooled_region_rule(call);
}

const std::vector<InputSpec>& region_inputs() {
  static const std::vector<InputSpec> inputs = {
      {"data", "batch, channels, height and width as `layout` says"},
      {"rois", "a row for each region: which image, and x1, y1, x2, y2"}};
  return inputs;
}

// --- roi_samples, roi_align_adaptive, roi_align_at_most: the regions decide how many samples ---

void add_roi_samples() {
  OpDef def;
  def.name = "roi_samples";
  def.is_step = true;
  def.level = 0;
  def.doc = "How many samples along an axis the longest bin of `vision.roi_align` has: at least 1.";
  def.example =
      "roi_samples([[0.0, 0.0, 0.0, 3.0, 7.0]], pooled_size=[2, 2], spatial_scale=1.0)\n"
      "// expect: 4i64";
  def.inputs = {region_inputs()[1]};
  def.attrs = {align_attrs()[0], align_attrs()[1]};
  def.type_rule = [](TypeCall& call) {
    check_pooled_size(call);
    const Type regions = call.tensor(0);
    call.solver.require(as_tensor(regions).dtype, PrimOperands::kFloat);
    const Shape shape = with_rank(call, as_tensor(regions).shape, 2);
    call.solver.unify(shape[1], Dim(5));
    call.returns(lang::scalar_type(DType::Int64));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) -> Expr {
    const Expr& regions = call.args[0];
    if (constant_of(extent_of(regions, 0)) == 0) return build::index_constant(1);
    const RegionAxis rows = region_axis(call.attrs, regions, regions, 0);
    const RegionAxis columns = region_axis(call.attrs, regions, regions, 1);
    const Scalar most =
        reduce_over(ReduceOp::Max, {extent_of(regions, 0)}, [&](const Indices& i) -> Expr {
          return max_of(rows.samples(i[0]), columns.samples(i[0]));
        });
    return max_of(most, build::index_constant(1));
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_roi_align_at_most() {
  OpDef def;
  def.name = "roi_align_at_most";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "`vision.roi_align` with an attribute for how many samples the longest bin has along an "
      "axis: "
      "`sample_ratio`, or\nwhat `roi_samples` gives.";
  def.example =
      "roi_align_at_most([[[[1.0, 3.0]]]], [[0.0, 0.0, 0.0, 1.0, 0.0]], pooled_size=[1, 1], "
      "spatial_scale=1.0, samples=1)\n// expect: [[[[2.0]]]]";
  def.inputs = region_inputs();
  def.attrs = align_attrs();
  def.attrs.push_back(required_attr("samples", AttrKind::Int, "samples of the longest bin"));
  def.type_rule = [](TypeCall& call) {
    count_attr(call, "samples", 1);
    return align_rule(call);
  };
  def.definition = [](const DefinitionCall& call) {
    return aligned({call.attrs, call.args[0], call.args[1], call.result,
                    call.attrs->get_int("samples"), call.attrs->get_int("sample_ratio") <= 0});
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_roi_align_adaptive() {
  OpDef def;
  def.name = "roi_align_adaptive";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "`vision.roi_align` where each region has as many samples as fit its size; `samples` is what "
      "`roi_samples` gives.";
  def.example =
      "roi_align_adaptive([[[[1.0, 3.0]]]], [[0.0, 0.0, 0.0, 1.0, 0.0]], 1i64, pooled_size=[1, 1], "
      "spatial_scale=1.0)\n// expect: [[[[2.0]]]]";
  def.inputs = region_inputs();
  def.inputs.push_back({"samples", "samples of the longest bin, as a scalar", false, "samples"});
  def.attrs = align_attrs();
  def.type_rule = [](TypeCall& call) {
    const Type samples = call.tensor(2);
    call.solver.unify(as_tensor(samples).shape, Shape());
    call.solver.require(as_tensor(samples).dtype, PrimOperands::kInt);
    return align_rule(call);
  };
  def.static_form = "roi_align_at_most";
  def.gradient = [](const GradientCall&) -> std::vector<Expr> {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: the derivative of `vision.roi_align` where the regions decide how "
               "many samples there are (`sample_ratio` of 0 or less)",
               {});
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_roi_align() {
  OpDef def;
  def.name = "vision.roi_align";
  def.level = 5;
  def.doc =
      "Regions of feature maps brought to one size by bilinear samples.\n"
      "Each region falls into `pooled_size` bins, and a bin is the mean or the largest of its "
      "samples, which lie in its\nmiddle parts. A region counts as at least one element in each "
      "direction. A sample more than one element\noutside the data, and any of an image that does "
      "not exist, is 0.";
  def.example =
      "vision.roi_align([[[[1.0, 3.0]]]], [[0.0, 0.0, 0.0, 1.0, 0.0]], pooled_size=[1, 2], "
      "spatial_scale=1.0, sample_ratio=1)\n// expect: [[[[1.5, 2.5]]]]";
  def.inputs = region_inputs();
  def.attrs = align_attrs();
  lang::set_attrs_struct(def.name, "ROIAlignAttrs");
  def.type_rule = align_rule;
  def.expansion = [](const DefinitionCall& call) {
    const std::vector<lang::Attr>& attrs = call.attrs->list;
    const std::int64_t ratio = call.attrs->get_int("sample_ratio");
    if (ratio > 0) {
      std::vector<lang::Attr> with_samples = attrs;
      with_samples.push_back({"samples", ratio, {}});
      return op("roi_align_at_most", call.args, std::move(with_samples));
    }
    const Expr samples = op("roi_samples", {call.args[1]}, {attrs[0], attrs[1]});
    return op("roi_align_adaptive", {call.args[0], call.args[1], samples}, attrs);
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- vision.roi_pool ---

// The first and the last but one element of bin `bin` of a region.
struct Span {
  Scalar first, end;
};
Span pooled_span(const RegionAxis& axis, const Expr& extent, const Expr& region, const Expr& bin) {
  const Scalar start = to_index(round_away(axis.side(region, axis.start)));
  const Scalar stop = to_index(round_away(axis.side(region, axis.end)));
  const Scalar length = max_of(stop - start + 1, build::index_constant(1));
  const Scalar step = cast_scalar(axis.dtype, length) / static_cast<double>(axis.pooled);
  const Scalar k = cast_scalar(axis.dtype, bin);
  constexpr double kSlack = 1e-5;  // what rounding may have taken from a whole number
  const auto bounded = [&](const Scalar& place) {
    return min_of(max_of(place + start, build::index_constant(0)), extent);
  };
  return {bounded(floor_index(k * step + kSlack)),
          bounded(to_index(ceil_of((k + 1) * step - kSlack)))};
}

struct Pooling {
  const AttrsRef& attrs;
  const Expr& data;
  const Expr& regions;
  std::vector<Dim> dims;  // of the result

  AxisLayout layout() const { return region_layout(attrs); }
  Expr extent(std::size_t which) const { return extent_of(data, layout().spatial[which]); }
  Scalar image(const Expr& region) const {
    const RegionAxis axis = region_axis(attrs, data, regions, 0);
    return to_index(
        cast_scalar(axis.dtype, build::at(regions, {region, build::index_constant(0)})));
  }
  Scalar is_there(const Expr& region) const { return is_within(image(region), extent_of(data, 0)); }
  Scalar lowest() const {
    const Scalar zero = build::constant(tensor_type_of(data).dtype.known(), 0);
    return zero.number(-std::numeric_limits<double>::infinity());
  }
};

// The bounds of all bins along an axis, as two int64 tensors by region and bin.
Expr bounded_values(const Pooling& how, std::size_t which,
                    const std::function<Expr(const Expr& first, const Expr& end)>& body) {
  const RegionAxis axis = region_axis(how.attrs, how.data, how.regions, which);
  const std::vector<Dim> dims = {dims_of(how.regions)[0], Dim(axis.pooled)};
  const std::vector<Expr> extents = {extent_of(how.regions, 0), build::index_constant(axis.pooled)};
  const auto table = [&](bool is_end) {
    return generate(dims, extents, [&](const Indices& i) -> Expr {
      const Span span = pooled_span(axis, how.extent(which), i[0], i[1]);
      return is_end ? span.end : span.first;
    });
  };
  return build::let("first", table(false), [&](const Expr& first) {
    return build::let("end", table(true), [&](const Expr& end) { return body(first, end); });
  });
}

// For each region, channel and column of bins the reduction of each row of the data over the
// column: by region, channel, bin, row.
Expr pooled_rows(const Pooling& how, ReduceOp reduce, const Expr& first, const Expr& end) {
  const AxisLayout layout = how.layout();
  const std::size_t channel = layout.lead[1].axis;
  const std::vector<Dim>& from = dims_of(how.data);
  const std::vector<Dim> dims = {how.dims[0], from[channel], how.dims[layout.spatial[1]],
                                 from[layout.spatial[0]]};
  const std::vector<Expr> extents = {extent_of(how.regions, 0), extent_of(how.data, channel),
                                     build::index_constant(how.attrs->get_ints("pooled_size")[1]),
                                     how.extent(0)};
  return generate(dims, extents, [&](const Indices& i) {
    return reduce_over(reduce, {how.extent(1)}, [&](const Indices& x) {
      Indices place(4);
      place[0] = clamped(how.image(i[0]), extent_of(how.data, 0));
      place[channel] = i[1];
      place[layout.spatial[0]] = i[3];
      place[layout.spatial[1]] = x[0];
      const Scalar is_inside = (Scalar(x[0]) >= build::at(first, {i[0], i[2]})) &
                               (Scalar(x[0]) < build::at(end, {i[0], i[2]}));
      return choose(is_inside, build::at(how.data, place), how.lowest()).expr;
    });
  });
}

// The reduction of `rows` over the rows of a bin; where the bin is empty, or its image is not
// there, `none`.
Expr pooled_bins(const Pooling& how, ReduceOp reduce, const Expr& rows, const Expr& columns_first,
                 const Expr& columns_end, const Scalar& none) {
  const AxisLayout layout = how.layout();
  const std::size_t row = layout.spatial[0];
  const std::size_t column = layout.spatial[1];
  const std::size_t channel = layout.lead[1].axis;
  std::vector<Expr> extents(4);
  extents[0] = extent_of(how.regions, 0);
  extents[channel] = extent_of(how.data, channel);
  for (std::size_t i = 0; i < 2; ++i)
    extents[layout.spatial[i]] = build::index_constant(how.attrs->get_ints("pooled_size")[i]);
  return bounded_values(how, 0, [&](const Expr& first, const Expr& end) {
    return generate(how.dims, extents, [&](const Indices& out) {
      const Scalar top = build::at(first, {out[0], out[row]});
      const Scalar bottom = build::at(end, {out[0], out[row]});
      const Expr chosen = reduce_over(reduce, {how.extent(0)}, [&](const Indices& y) {
        const Expr value = build::at(rows, {out[0], out[channel], out[column], y[0]});
        return choose((Scalar(y[0]) >= top) & (Scalar(y[0]) < bottom), value, how.lowest()).expr;
      });
      const Scalar left = build::at(columns_first, {out[0], out[column]});
      const Scalar right = build::at(columns_end, {out[0], out[column]});
      const Scalar has_some = how.is_there(out[0]) & (top < bottom) & (left < right);
      return choose(has_some, chosen, none).expr;
    });
  });
}

Expr roi_pool(const DefinitionCall& call) {
  const Pooling how{call.attrs, call.args[0], call.args[1], as_tensor(call.result).shape.dims()};
  return bounded_values(how, 1, [&](const Expr& first, const Expr& end) {
    return build::let("rows", pooled_rows(how, ReduceOp::Max, first, end), [&](const Expr& rows) {
      return pooled_bins(how, ReduceOp::Max, rows, first, end, how.lowest().number(0));
    });
  });
}

// The adjoint of each bin goes to its largest element, of equal ones to that in the first row.
std::vector<Expr> roi_pool_gradient(const GradientCall& call) {
  const Pooling how{call.attrs, call.args[0], call.args[1], dims_of(call.dout)};
  const AxisLayout layout = how.layout();
  const Scalar nowhere = build::index_constant(-1);
  const Expr adjoint = bounded_values(how, 1, [&](const Expr& first, const Expr& end) {
    return build::let("rows", pooled_rows(how, ReduceOp::Max, first, end), [&](const Expr& rows) {
      const Expr row_of = pooled_bins(how, ReduceOp::ArgMax, rows, first, end, nowhere);
      return build::let("row", row_of, [&](const Expr& row) {
        const Expr column_of = pooled_rows(how, ReduceOp::ArgMax, first, end);
        return build::let("column", column_of, [&](const Expr& column) {
          const Expr counted = generate_like(call.dout, [&](const Indices& out) {
            const Scalar value = build::at(call.dout, out);
            return choose(Scalar(build::at(row, out)) >= 0, value, value.number(0)).expr;
          });
          return build::let("counted", counted, [&](const Expr& values) {
            return scatter_into(how.data, values, [&](const Indices& out) {
              const Scalar y = max_of(build::at(row, out), build::index_constant(0));
              Indices place = out;
              place[0] = clamped(how.image(out[0]), extent_of(how.data, 0));
              place[layout.spatial[0]] = y;
              place[layout.spatial[1]] =
                  build::at(column, {out[0], out[layout.lead[1].axis], out[layout.spatial[1]], y});
              return place;
            });
          });
        });
      });
    });
  });
  return {adjoint, nullptr};
}

void add_roi_pool() {
  OpDef def;
  def.name = "vision.roi_pool";
  def.level = 5;
  def.doc =
      "Regions of feature maps brought to one size: the largest element of each of `pooled_size` "
      "bins.\n"
      "Corners are rounded to elements, half away from zero; a region counts as at least one "
      "element in each\ndirection. A bin without elements, and any of an image that does not "
      "exist, "
      "is 0. NaN wins. The adjoint of the\nregions is zero.";
  def.example =
      "vision.roi_pool([[[[1.0, 3.0, 2.0]]]], [[0.0, 0.0, 0.0, 2.0, 0.0]], pooled_size=[1, 3], "
      "spatial_scale=1.0)\n// expect: [[[[1.0, 3.0, 2.0]]]]";
  def.inputs = region_inputs();
  def.attrs = {align_attrs()[0], align_attrs()[1], align_attrs()[3]};
  lang::set_attrs_struct(def.name, "ROIPoolAttrs");
  def.type_rule = pooled_region_rule;
  def.definition = roi_pool;
  def.gradient = roi_pool_gradient;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_roi_operators() {
  add_roi_samples();
  add_roi_align_at_most();
  add_roi_align_adaptive();
  add_roi_align();
  add_roi_pool();
}

void add_vision_operators() {
  add_roi_operators();
  add_multibox_operators();
  add_suppression_steps();
  add_suppression_operators();
  add_class_suppression_operators();
  add_proposal_operators();
}

}  // namespace relay::stdlib
