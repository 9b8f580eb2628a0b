// nn.deformable_conv2d: the elements that a window reads are displaced, each by an input.

#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

AxisLayout data_layout(const AttrsRef& attrs) {
  return known_layout(attrs->get_string("data_layout"), "NC", "HW");
}
AxisLayout weight_layout(const AttrsRef& attrs) {
  return known_layout(attrs->get_string("kernel_layout"), "OI", "HW");
}

void check_attributes(const TypeCall& call) {
  check_window(call, 2);
  const AxisLayout data = layout_of(call, "data_layout", "NC", "HW");
  const AxisLayout weight = layout_of(call, "kernel_layout", "OI", "HW");
  if (data.rank != 4 || weight.rank != 4)
    lang::fail(DiagnosticKind::BadAttribute, "layouts with blocks do not fit displaced windows",
               call.span);
  const std::string& out = call.attrs->get_string("out_layout");
  if (!out.empty() && out != data.letters)
    lang::fail(DiagnosticKind::BadAttribute,
               "`out_layout` is `" + out + "`, and must be `data_layout`, `" + data.letters + "`",
               call.span);
  for (const char* key : {"groups", "deformable_groups"}) {
    if (call.attrs->get_int(key) < 1)
      lang::fail(DiagnosticKind::BadAttribute, "`" + std::string(key) + "` must be at least 1",
                 call.span);
  }
}

RuleOutcome deformable_rule(TypeCall& call) {
  check_attributes(call);
  const AttrsRef& attrs = call.attrs;
  const AxisLayout layout = data_layout(attrs);
  const AxisLayout kernel = weight_layout(attrs);
  const Shape data = input_of_rank(call, 0, 4);
  const Shape offset = input_of_rank(call, 1, 4);
  const Shape weight = input_of_rank(call, 2, 4);
  const DTypeTerm& dtype = as_tensor(call.tensor(0)).dtype;
  call.solver.require(dtype, PrimOperands::kFloat);
  for (const std::size_t input : {1, 2})
    call.solver.unify(as_tensor(call.tensor(input)).dtype, dtype);
  const Dim channels = data[layout.lead[1].axis];
  for (const char* key : {"groups", "deformable_groups"}) {
    if (channels.is_constant() && channels.constant() % attrs->get_int(key) != 0) {
      call.fail(DiagnosticKind::ShapeMismatch,
                channels.to_string() + " channels do not fall into " +
                    std::to_string(attrs->get_int(key)) + " `" + key + "`");
    }
  }
  call.solver.unify(weight[kernel.lead[1].axis],
                    Dim::floor_div(channels, Dim(attrs->get_int("groups"))));
  if (!attrs->is_null("channels"))
    call.solver.unify(weight[kernel.lead[0].axis], Dim(attrs->get_int("channels")));
  const Padding padding = padding_of(attrs, 2);
  const std::vector<std::int64_t> strides = per_axis(attrs, "strides", 2);
  const std::vector<std::int64_t> dilation = per_axis(attrs, "dilation", 2);
  std::vector<Dim> places;
  Dim taps = Dim(2) * Dim(attrs->get_int("deformable_groups"));
  for (std::size_t i = 0; i < 2; ++i) {
    Dim size = weight[kernel.spatial[i]];
    if (!attrs->is_null("kernel_size")) {
      call.solver.unify(size, Dim(per_axis(attrs, "kernel_size", 2)[i]));
      size = Dim(per_axis(attrs, "kernel_size", 2)[i]);
    }
    taps = taps * size;
    places.push_back(window_places(call, data[layout.spatial[i]], size, padding.front[i],
                                   padding.back[i], strides[i], dilation[i]));
  }
  const Dim& batch = data[layout.lead[0].axis];
  call.solver.unify(offset, Shape(dims_in_layout(layout, batch, taps, places)));
  const Shape known = result_shape(call, attr_dtype(attrs, "out_dtype", dtype));
  call.solver.unify(known,
                    Shape(dims_in_layout(layout, batch, weight[kernel.lead[0].axis], places)));
  return RuleOutcome::Solved;
}

// Extents at concrete shapes.
struct Displaced {
  const DefinitionCall& call;
  AxisLayout layout, kernel;
  std::int64_t batch, channels, deformable_groups;
  std::vector<std::int64_t> size, places, strides, dilation;
  Padding padding;
  DType dtype;  // of samples and sums

  explicit Displaced(const DefinitionCall& call)
      : call(call),
        layout(data_layout(call.attrs)),
        kernel(weight_layout(call.attrs)),
        batch(dims_of(call.args[0])[layout.lead[0].axis].constant()),
        channels(dims_of(call.args[0])[layout.lead[1].axis].constant()),
        deformable_groups(call.attrs->get_int("deformable_groups")),
        strides(per_axis(call.attrs, "strides", 2)),
        dilation(per_axis(call.attrs, "dilation", 2)),
        padding(padding_of(call.attrs, 2)),
        dtype(sampling_dtype(call.tensor(0).dtype.known())) {
    for (std::size_t i = 0; i < 2; ++i) {
      size.push_back(dims_of(call.args[2])[kernel.spatial[i]].constant());
      places.push_back(as_tensor(call.result).shape[layout.spatial[i]].constant());
    }
  }
};

// The taps along one axis: by batch, deformable group, place in the window (2), place of the result
// (2). A position outside the data has no weight; between the last element and the end the last one
// counts.
Expr with_displaced_taps(const Displaced& how, std::size_t axis,
                         const std::function<Expr(const Taps&)>& body) {
  Points points;
  for (const std::int64_t extent :
       {how.batch, how.deformable_groups, how.size[0], how.size[1], how.places[0], how.places[1]}) {
    points.dims.emplace_back(extent);
    points.extents.push_back(build::index_constant(extent));
  }
  points.position = [&](const Indices& i) {
    const Scalar tap = (Scalar(i[1]) * static_cast<double>(how.size[0]) + Scalar(i[2])) *
                           static_cast<double>(how.size[1]) +
                       Scalar(i[3]);
    const Indices at =
        in_layout(how.layout, i[0], tap * 2 + static_cast<double>(axis), {i[4], i[5]});
    const Scalar start =
        Scalar(window_index(i[4 + axis], how.strides[axis], i[2 + axis], how.dilation[axis])) -
        static_cast<double>(how.padding.front[axis]);
    return cast_scalar(how.dtype, start) + cast_scalar(how.dtype, build::at(how.call.args[1], at));
  };
  const Expr extent = extent_of(how.call.args[0], how.layout.spatial[axis]);
  const Scalar end = as_number(extent, how.dtype);
  const auto weight = [=](const Scalar& x, const Scalar& tap) {
    const Scalar t = x - floor_of(x);
    const Scalar is_inside = (x >= 0) & (x < end);
    return choose(is_inside, choose(tap == 0, 1.0 - t, t), t.number(0));
  };
  const TapRule rule{2, linear_taps(extent, false).place, weight};
  return with_taps(points, rule, body);
}

// By batch, channel, place in the window, place of the result.
Expr samples(const Displaced& how, const Taps& rows, const Taps& columns) {
  const std::vector<Dim> dims = {Dim(how.batch),   Dim(how.channels),  Dim(how.size[0]),
                                 Dim(how.size[1]), Dim(how.places[0]), Dim(how.places[1])};
  return build::comprehension(dims, [&](const Indices& i) {
    const Expr group = floor_div(i[1], how.channels / how.deformable_groups);
    return build::reduction(ReduceOp::Sum, {Dim(2), Dim(2)}, [&](const Indices& k) -> Expr {
      const auto at = [&](const Expr& tap) -> Indices {
        return {i[0], group, i[2], i[3], i[4], i[5], tap};
      };
      const Expr value = build::at(
          how.call.args[0],
          in_layout(how.layout, i[0], i[1],
                    {build::at(rows.places, at(k[0])), build::at(columns.places, at(k[1]))}));
      return Scalar(build::at(rows.weights, at(k[0]))) *
             Scalar(build::at(columns.weights, at(k[1]))) * cast_scalar(how.dtype, value);
    });
  });
}

Expr deformable_convolution(const DefinitionCall& call) {
  const Displaced how(call);
  const auto& result = as_tensor(call.result);
  const std::int64_t groups = call.attrs->get_int("groups");
  const std::int64_t inputs = how.channels / groups;
  const std::int64_t outputs = dims_of(call.args[2])[how.kernel.lead[0].axis].constant() / groups;
  return with_displaced_taps(how, 0, [&](const Taps& rows) {
    return with_displaced_taps(how, 1, [&](const Taps& columns) {
      return build::let("samples", samples(how, rows, columns), [&](const Expr& sampled) {
        return build::comprehension(result.shape.dims(), [&](const Indices& out) {
          const Expr feature = lead_index(how.layout, out, 1);
          const Scalar first = groups == 1
                                   ? Scalar(build::index_constant(0))
                                   : floor_div(feature, std::max<std::int64_t>(outputs, 1)) *
                                         static_cast<double>(inputs);
          const Expr sum = build::reduction(
              ReduceOp::Sum, {Dim(inputs), Dim(how.size[0]), Dim(how.size[1])},
              [&](const Indices& k) -> Expr {
                const Scalar sample = build::at(
                    sampled, {lead_index(how.layout, out, 0), first + Scalar(k[0]), k[1], k[2],
                              out[how.layout.spatial[0]], out[how.layout.spatial[1]]});
                const Expr weight =
                    build::at(call.args[2], in_layout(how.kernel, feature, k[0], {k[1], k[2]}));
                return sample * cast_scalar(how.dtype, weight);
              });
          return build::cast_to(result.dtype.known(), sum);
        });
      });
    });
  });
}

}  // namespace

void add_deformable_operators() {
  OpDef def;
  def.name = "nn.deformable_conv2d";
  def.level = 5;
  def.doc =
      "A convolution whose window reads the data at displaced positions, between elements "
      "bilinearly.\n"
      "The offsets are pairs y, x for each place in the window, of each deformable group of "
      "channels. A position outside\nthe data reads 0. float16 and bfloat16 are summed in float32.";
  def.example =
      "nn.deformable_conv2d([[[[1.0, 2.0, 4.0]]]], [[[[0.0, 0.0, 0.0]], [[0.5, 0.0, -2.5]]]], "
      "[[[[10.0]]]])\n// expect: [[[[15.0, 20.0,  0.0]]]]";
  def.inputs = {{"data", "batch, channels, height, width as `data_layout` says"},
                {"offset", "displacements, in the same layout"},
                {"weight", "outputs, inputs of a group, height, width as `kernel_layout` says"}};
  const AttrValue ones = AttrValue::ints({1, 1});
  def.attrs = {
      optional_attr("strides", AttrKind::IntOrIntList, ones, "how far the window moves"),
      optional_attr("padding", AttrKind::IntOrIntList, AttrValue::ints({0, 0}),
                    "elements around the data: one for all, one for each axis, or all fronts and "
                    "then all backs"),
      optional_attr("dilation", AttrKind::IntOrIntList, ones,
                    "how far the elements of the window are apart"),
      optional_attr("deformable_groups", AttrKind::Int, 1,
                    "how many parts of the channels have offsets of their own"),
      optional_attr("groups", AttrKind::Int, 1, "how many parts the channels fall into"),
      nullable_attr("channels", AttrKind::Int, "channels of the result, if they are to be checked"),
      nullable_attr("kernel_size", AttrKind::IntOrIntList,
                    "extents of the window, if they are to be checked"),
      optional_attr("data_layout", AttrKind::String, "NCHW", "which axis holds what"),
      optional_attr("kernel_layout", AttrKind::String, "OIHW", "the same of the weight"),
      optional_attr("out_layout", AttrKind::String, "", "the data's layout"),
      nullable_attr("out_dtype", AttrKind::DType, "dtype of the result; None: that of the data")};
  def.type_rule = deformable_rule;
  def.definition = deformable_convolution;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace relay::stdlib
