// Convolutions (cross-correlations, as everywhere in machine learning) over one, two or three
// spatial axes, and their transposes.

#include "lang/attrs_struct.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- Geometry ---

struct Convolution {
  std::size_t count;  // of spatial axes
  std::int64_t groups;
  WindowSteps steps;
  Padding padding;
  AxisLayout data, kernel, out;
};

AxisLayout out_layout(const AttrsRef& attrs, std::size_t count) {
  const std::string& own = attrs->get_string("out_layout");
  return known_layout(own.empty() ? attrs->get_string("data_layout") : own, "NC",
                      spatial_letters(count));
}

Convolution convolution_of(const AttrsRef& attrs, std::size_t count) {
  Convolution result;
  result.count = count;
  result.groups = attrs->get_int("groups");
  result.padding = padding_of(attrs, count);
  result.steps = {per_axis(attrs, "strides", count), per_axis(attrs, "dilation", count),
                  result.padding.front};
  result.data = known_layout(attrs->get_string("data_layout"), "NC", spatial_letters(count));
  result.kernel = known_layout(attrs->get_string("kernel_layout"), "OI", spatial_letters(count));
  result.out = out_layout(attrs, count);
  return result;
}

void check_attributes(const TypeCall& call, std::size_t count) {
  check_window(call, count);
  if (call.attrs->get_int("groups") < 1)
    lang::fail(DiagnosticKind::BadAttribute, "`groups` must be at least 1", call.span);
  layout_of(call, "data_layout", "NC", spatial_letters(count));
  layout_of(call, "kernel_layout", "OI", spatial_letters(count));
  if (!call.attrs->get_string("out_layout").empty())
    layout_of(call, "out_layout", "NC", spatial_letters(count));
}

// The dtype of the result; the operands need only agree where it is not given.
DTypeTerm product_dtype(TypeCall& call, const DTypeTerm& a, const DTypeTerm& b) {
  call.solver.require(a, PrimOperands::kNumeric);
  call.solver.require(b, PrimOperands::kNumeric);
  const bool given = call.attrs->find("out_dtype")->as_dtype() != nullptr;
  const bool open = !b.is_known() && b.var()->flexible;
  if (!given || open) call.solver.unify(a, b);
  return attr_dtype(call.attrs, "out_dtype", a);
}

// Inside a blocked axis the extent is the block's.
void unify_blocks(TypeCall& call, const AxisLayout& layout, const Shape& shape) {
  for (const AxisLayout::Lead& lead : layout.lead) {
    if (lead.block != 0) call.solver.unify(shape[lead.inner], Dim(lead.block));
  }
}

// Unifies, with words for two constants that differ.
void agree(TypeCall& call, const Dim& a, const Dim& b, const std::string& what) {
  if (a.is_constant() && b.is_constant() && !(a == b)) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "`" + call.op.name + "`: " + what + ": " + a.to_string() + " and " + b.to_string());
  }
  call.solver.unify(a, b);
}

// `channels` and `kernel_size`, where they are given.
void check_stated(TypeCall& call, std::size_t count, const Dim& channels,
                  const std::vector<Dim>& kernel) {
  if (!call.attrs->is_null("channels"))
    agree(call, channels, call.attrs->get_int("channels"), "the weight's channels and `channels`");
  if (call.attrs->is_null("kernel_size")) return;
  const std::vector<std::int64_t> stated = per_axis(call.attrs, "kernel_size", count);
  for (std::size_t i = 0; i < count; ++i)
    agree(call, kernel[i], stated[i], "the weight's extents and `kernel_size`");
}

std::vector<Dim> spatial_of(const AxisLayout& layout, const std::vector<Dim>& dims) {
  std::vector<Dim> spatial;
  for (const std::size_t axis : layout.spatial) spatial.push_back(dims[axis]);
  return spatial;
}

// --- Forward ---

RuleOutcome convolution_rule(TypeCall& call, std::size_t count) {
  check_attributes(call, count);
  const Convolution conv = convolution_of(call.attrs, count);
  const Shape data = ranked(call, 0, conv.data.rank);
  const Shape weight = ranked(call, 1, conv.kernel.rank);
  unify_blocks(call, conv.data, data);
  unify_blocks(call, conv.kernel, weight);
  const DTypeTerm dtype =
      product_dtype(call, as_tensor(call.tensor(0)).dtype, as_tensor(call.tensor(1)).dtype);
  const Shape known = result_shape(call, dtype);
  check_stated(call, count, lead_extent(conv.kernel, weight.dims(), 0),
               spatial_of(conv.kernel, weight.dims()));
  agree(call, lead_extent(conv.data, data.dims(), 1),
        lead_extent(conv.kernel, weight.dims(), 1) * Dim(conv.groups),
        "the data's channels and the weight's, times `groups`");
  // What the attributes have told.
  const Type settled = call.solver.resolve(call.args[1]);
  const Dim outputs = lead_extent(conv.kernel, as_tensor(settled).shape.dims(), 0);
  const std::vector<Dim> kernel = spatial_of(conv.kernel, as_tensor(settled).shape.dims());
  if (outputs.is_constant() && outputs.constant() % conv.groups != 0) {
    call.fail(DiagnosticKind::ShapeMismatch, "`" + call.op.name + "`: " + outputs.to_string() +
                                                 " channels do not divide into " +
                                                 std::to_string(conv.groups) + " groups");
  }
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < count; ++i) {
    spatial.push_back(window_places(call, data[conv.data.spatial[i]], kernel[i],
                                    conv.padding.front[i], conv.padding.back[i],
                                    conv.steps.stride[i], conv.steps.dilation[i]));
  }
  const Shape result(
      dims_in_layout(conv.out, lead_extent(conv.data, data.dims(), 0), outputs, spatial));
  for (const Dim& dim : spatial) {
    if (state_of(dim) == DimState::Flexible) return RuleOutcome::Stuck;
  }
  call.solver.unify(known, result);
  return RuleOutcome::Solved;
}

Expr padded_data(const Convolution& conv, const Expr& data) {
  const Expr zero = build::constant(tensor_type_of(data).dtype.known(), 0);
  return padded_around(data, conv.data, conv.padding, zero);
}

// Which channel `within` the group of `channel` (of `per_group` channels) is, among those of which
// each group has `others`.
Expr channel_of_group(const Convolution& conv, const Expr& channel, const Expr& per_group,
                      const Expr& within, const Expr& others) {
  if (conv.groups == 1) return within;
  const Expr group = build::prim(Prim::FloorDiv, {channel, per_group});
  return build::add(build::mul(group, others), within);
}

// How many of `channels` each group has.
Expr part_of_group(const Convolution& conv, const Expr& channels) {
  if (conv.groups == 1) return channels;
  return build::prim(Prim::FloorDiv, {channels, build::index_constant(conv.groups)});
}

Expr product_in(DType dtype, const Expr& a, const Expr& b) {
  return build::mul(build::cast_to(dtype, a), build::cast_to(dtype, b));
}

// out[n, o, p] = sum over c, t of padded[n, c, p * stride + t * dilation] * weight[o, c, t].
// `per_group`: outputs of a group; `folded`: the extents of c and t.
Expr slide(const Convolution& conv, const Expr& padded, const Expr& weight, const Expr& per_group,
           const std::vector<Expr>& folded, const Indices& out, DType dtype) {
  const Expr channel = lead_index(conv.out, out, 1);
  return reduce_over(ReduceOp::Sum, folded, [&](const Indices& inner) {
    const Indices taps(inner.begin() + 1, inner.end());
    Indices position;
    for (std::size_t i = 0; i < conv.count; ++i) {
      position.push_back(window_index(out[conv.out.spatial[i]], conv.steps.stride[i], taps[i],
                                      conv.steps.dilation[i]));
    }
    const Expr from = channel_of_group(conv, channel, per_group, inner[0], folded[0]);
    const Expr x =
        build::at(padded, in_layout(conv.data, lead_index(conv.out, out, 0), from, position));
    const Expr w = build::at(weight, in_layout(conv.kernel, channel, inner[0], taps));
    return product_in(dtype, x, w);
  });
}

Expr convolve(const DefinitionCall& call, std::size_t count) {
  const Convolution conv = convolution_of(call.attrs, count);
  const Expr& weight = call.args[1];
  const std::vector<Dim>& kernel = dims_of(weight);
  const auto& result = *lang::as<TensorType>(call.result);
  const Dim per_group = Dim::floor_div(lead_extent(conv.kernel, kernel, 0), Dim(conv.groups));
  std::vector<Expr> folded = {extent_expr(lead_extent(conv.kernel, kernel, 1))};
  for (const Dim& extent : spatial_of(conv.kernel, kernel)) folded.push_back(extent_expr(extent));
  return build::let("padded", padded_data(conv, call.args[0]), [&](const Expr& data) {
    return build::comprehension(result.shape.dims(), [&](const Indices& out) {
      return slide(conv, data, weight, extent_expr(per_group), folded, out, result.dtype.known());
    });
  });
}

// --- Backward ---

// in[n, c, p] = sum over o, t of places[n, o, (p + front - t * dilation) / stride] * weight[o, c,
// t], where the division is exact: the adjoint of the data of a convolution, and what a transposed
// convolution computes.
Expr spread_places(const Convolution& conv, const Expr& places, const AxisLayout& places_layout,
                   const Expr& weight, const AxisLayout& target_layout, const Indices& target,
                   DType dtype) {
  const Expr per_group = lead_extent_expr(conv.kernel, weight, 1);
  const Expr outputs = part_of_group(conv, lead_extent_expr(conv.kernel, weight, 0));
  std::vector<Expr> folded = {outputs};
  for (const std::size_t axis : conv.kernel.spatial) folded.push_back(extent_of(weight, axis));
  Indices position;
  for (const std::size_t axis : target_layout.spatial) position.push_back(target[axis]);
  const Expr channel = lead_index(target_layout, target, 1);
  return reduce_over(ReduceOp::Sum, folded, [&](const Indices& inner) {
    const Indices taps(inner.begin() + 1, inner.end());
    const Expr from = channel_of_group(conv, channel, per_group, inner[0], outputs);
    const Expr own = conv.groups == 1 ? channel : build::prim(Prim::FloorMod, {channel, per_group});
    const Expr y = read_place(places, places_layout, lead_index(target_layout, target, 0), from,
                              position, taps, conv.steps);
    return product_in(dtype, y, build::at(weight, in_layout(conv.kernel, from, own, taps)));
  });
}

// weight[o, c, t] = sum over n, p of places[n, o, p] * padded[n, c, p * stride + t * dilation].
// `outputs` and `inputs`: the extents of the weight's lead axes.
Expr correlate(const Convolution& conv, const Expr& places, const Expr& padded, const Expr& outputs,
               const Expr& inputs, const Indices& target, DType dtype) {
  const Expr per_group = part_of_group(conv, outputs);
  std::vector<Expr> folded = {lead_extent_expr(conv.out, places, 0)};
  for (const std::size_t axis : conv.out.spatial) folded.push_back(extent_of(places, axis));
  const Expr output = lead_index(conv.kernel, target, 0);
  return reduce_over(ReduceOp::Sum, folded, [&](const Indices& inner) {
    const Indices at(inner.begin() + 1, inner.end());
    Indices position;
    for (std::size_t i = 0; i < conv.count; ++i) {
      position.push_back(window_index(at[i], conv.steps.stride[i], target[conv.kernel.spatial[i]],
                                      conv.steps.dilation[i]));
    }
    const Expr from =
        channel_of_group(conv, output, per_group, lead_index(conv.kernel, target, 1), inputs);
    return product_in(dtype, build::at(places, in_layout(conv.out, inner[0], output, at)),
                      build::at(padded, in_layout(conv.data, inner[0], from, position)));
  });
}

std::vector<Expr> convolution_gradient(const GradientCall& call, std::size_t count) {
  const Convolution conv = convolution_of(call.attrs, count);
  const Expr& data = call.args[0];
  const Expr& weight = call.args[1];
  const auto dtype = [](const Expr& target) { return tensor_type_of(target).dtype.known(); };
  Expr ddata;
  if (is_float_tensor(data)) {
    ddata = generate_like(data, [&](const Indices& in) {
      return spread_places(conv, call.dout, conv.out, weight, conv.data, in, dtype(data));
    });
  }
  Expr dweight;
  if (is_float_tensor(weight)) {
    dweight = build::let("padded", padded_data(conv, data), [&](const Expr& padded) {
      return generate_like(weight, [&](const Indices& target) {
        return correlate(conv, call.dout, padded, lead_extent_expr(conv.kernel, weight, 0),
                         lead_extent_expr(conv.kernel, weight, 1), target, dtype(weight));
      });
    });
  }
  return {ddata, dweight};
}

// --- Transposed ---

RuleOutcome transposed_rule(TypeCall& call, std::size_t count) {
  check_attributes(call, count);
  const Convolution conv = convolution_of(call.attrs, count);
  const Shape data = ranked(call, 0, conv.data.rank);
  const Shape weight = ranked(call, 1, conv.kernel.rank);
  unify_blocks(call, conv.data, data);
  unify_blocks(call, conv.kernel, weight);
  const DTypeTerm dtype =
      product_dtype(call, as_tensor(call.tensor(0)).dtype, as_tensor(call.tensor(1)).dtype);
  const Shape known = result_shape(call, dtype);
  const std::vector<std::int64_t> extra = per_axis(call.attrs, "output_padding", count);
  check_stated(call, count, lead_extent(conv.kernel, weight.dims(), 0) * Dim(conv.groups),
               spatial_of(conv.kernel, weight.dims()));
  agree(call, lead_extent(conv.data, data.dims(), 1), lead_extent(conv.kernel, weight.dims(), 1),
        "the data's channels and the weight's");
  // What the attributes have told.
  const Type settled = call.solver.resolve(call.args[1]);
  const Dim channels =
      lead_extent(conv.kernel, as_tensor(settled).shape.dims(), 0) * Dim(conv.groups);
  const std::vector<Dim> kernel = spatial_of(conv.kernel, as_tensor(settled).shape.dims());
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < count; ++i) {
    const Dim extent = Dim(conv.steps.stride[i]) * (data[conv.data.spatial[i]] - Dim(1)) +
                       Dim(conv.steps.dilation[i]) * (kernel[i] - Dim(1)) +
                       Dim(1 + extra[i] - conv.padding.front[i] - conv.padding.back[i]);
    if (state_of(extent) == DimState::Flexible) return RuleOutcome::Stuck;
    spatial.push_back(extent);
  }
  call.solver.unify(known, Shape(dims_in_layout(conv.out, lead_extent(conv.data, data.dims(), 0),
                                                channels, spatial)));
  return RuleOutcome::Solved;
}

// The kernel of a transposed convolution has the data's channels as its inputs; seen from the
// convolution that it transposes these are the outputs.
Convolution transposed_convolution_of(const AttrsRef& attrs, std::size_t count) {
  Convolution conv = convolution_of(attrs, count);
  std::swap(conv.kernel.lead[0], conv.kernel.lead[1]);
  return conv;
}

Expr convolve_transposed(const DefinitionCall& call, std::size_t count) {
  const Convolution conv = transposed_convolution_of(call.attrs, count);
  const auto& result = *lang::as<TensorType>(call.result);
  return build::comprehension(result.shape.dims(), [&](const Indices& out) {
    return spread_places(conv, call.args[0], conv.data, call.args[1], conv.out, out,
                         result.dtype.known());
  });
}

// With data and result exchanged, a transposed convolution is the adjoint of a convolution: its
// data's adjoint is that convolution.
std::vector<Expr> transposed_gradient(const GradientCall& call, std::size_t count) {
  Convolution conv = transposed_convolution_of(call.attrs, count);
  std::swap(conv.data, conv.out);
  const Expr& data = call.args[0];
  const Expr& weight = call.args[1];
  const auto dtype = [](const Expr& target) { return tensor_type_of(target).dtype.known(); };
  const Expr outputs = lead_extent_expr(conv.kernel, weight, 0);
  const Expr inputs = lead_extent_expr(conv.kernel, weight, 1);
  const auto with_padded = [&](const std::function<Expr(const Expr&)>& adjoint) {
    return build::let("padded", padded_data(conv, call.dout), adjoint);
  };
  Expr ddata;
  if (is_float_tensor(data)) {
    std::vector<Expr> folded = {inputs};
    for (const std::size_t axis : conv.kernel.spatial) folded.push_back(extent_of(weight, axis));
    ddata = with_padded([&](const Expr& padded) {
      return generate_like(data, [&](const Indices& out) {
        return slide(conv, padded, weight, part_of_group(conv, outputs), folded, out, dtype(data));
      });
    });
  }
  Expr dweight;
  if (is_float_tensor(weight)) {
    dweight = with_padded([&](const Expr& padded) {
      return generate_like(weight, [&](const Indices& target) {
        return correlate(conv, data, padded, outputs, inputs, target, dtype(weight));
      });
    });
  }
  return {ddata, dweight};
}

// --- The weight's adjoint as an operator ---

RuleOutcome backward_weight_rule(TypeCall& call) {
  check_attributes(call, 2);
  const Convolution conv = convolution_of(call.attrs, 2);
  const Shape grad = ranked(call, 0, conv.out.rank);
  const Shape data = ranked(call, 1, conv.data.rank);
  const DTypeTerm dtype =
      product_dtype(call, as_tensor(call.tensor(0)).dtype, as_tensor(call.tensor(1)).dtype);
  const Shape known = result_shape(call, dtype);
  if (call.attrs->is_null("kernel_size")) {
    lang::fail(DiagnosticKind::MissingAttribute,
               "`nn.conv2d_backward_weight` needs `kernel_size`: nothing else tells it", call.span);
  }
  const std::vector<std::int64_t> size = per_axis(call.attrs, "kernel_size", 2);
  call.solver.unify(lead_extent(conv.out, grad.dims(), 0), lead_extent(conv.data, data.dims(), 0));
  for (std::size_t i = 0; i < size.size(); ++i) {
    call.solver.unify(
        grad[conv.out.spatial[i]],
        window_places(call, data[conv.data.spatial[i]], Dim(size[i]), conv.padding.front[i],
                      conv.padding.back[i], conv.steps.stride[i], conv.steps.dilation[i]));
  }
  call.solver.unify(
      known,
      Shape(dims_in_layout(conv.kernel, lead_extent(conv.out, grad.dims(), 1),
                           Dim::floor_div(lead_extent(conv.data, data.dims(), 1), Dim(conv.groups)),
                           to_dims(size))));
  return RuleOutcome::Solved;
}

// --- Records ---

std::vector<AttrSpec> convolution_attrs(std::size_t count, bool transposed) {
  const std::string letters(spatial_letters(count));
  const std::vector<std::int64_t> ones(count, 1);
  const std::vector<std::int64_t> zeros(count, 0);
  const auto list = [](const char* name, const std::vector<std::int64_t>& values, const char* doc) {
    return optional_attr(name, AttrKind::IntOrIntList, AttrValue::ints(values), doc);
  };
  const AttrSpec channels =
      nullable_attr("channels", AttrKind::Int, "channels of the result, if they are to be checked");
  const AttrSpec kernel_size = nullable_attr("kernel_size", AttrKind::IntOrIntList,
                                             "extents of the kernel, if they are to be checked");
  const AttrSpec strides = list("strides", ones, "how far the window moves");
  const AttrSpec padding = list(
      "padding", count == 3 || (transposed && count == 1) ? zeros : std::vector<std::int64_t>{0, 0},
      "zeros around the data: one for all, one for each axis, or all fronts and then all backs");
  const AttrSpec dilation = list("dilation", ones, "how far the elements of the window are apart");
  const AttrSpec groups =
      optional_attr("groups", AttrKind::Int, 1, "how many parts the channels fall into");
  std::vector<AttrSpec> attrs;
  if (transposed) {
    attrs = {channels, kernel_size,
             strides,  list("output_padding", zeros, "how much longer the result is at its end"),
             padding,  dilation,
             groups};
  } else {
    attrs = {strides, padding, dilation, groups, channels, kernel_size};
  }
  attrs.push_back(
      optional_attr("data_layout", AttrKind::String, "NC" + letters, "which axis holds what"));
  attrs.push_back(optional_attr("kernel_layout", AttrKind::String,
                                (transposed ? "IO" : "OI") + letters, "the same of the weight"));
  attrs.push_back(optional_attr("out_layout", AttrKind::String, "",
                                "the same of the result, if it differs from the data's"));
  attrs.push_back(nullable_attr("out_dtype", AttrKind::DType,
                                "dtype of products and sums; None: that of the operands"));
  return attrs;
}

OpDef convolution_record(const char* name, std::size_t count, bool transposed,
                         const char* example) {
  OpDef def;
  def.name = name;
  def.level = 2;
  def.example = example;
  def.inputs = {{"data", "batch, channels and spatial axes as `data_layout` says"},
                {"weight", transposed ? "inputs, outputs of a group and spatial axes as "
                                        "`kernel_layout` says"
                                      : "outputs, inputs of a group and spatial axes as "
                                        "`kernel_layout` says"}};
  def.attrs = convolution_attrs(count, transposed);
  return def;
}

void add_convolution(const char* name, std::size_t count, const char* example) {
  OpDef def = convolution_record(name, count, false, example);
  def.doc =
      "The sums of products of a kernel with the windows of the data (cross-correlation).\n"
      "float16 and bfloat16 are summed in float32.";
  def.type_rule = [count](TypeCall& call) { return convolution_rule(call, count); };
  def.definition = [count](const DefinitionCall& call) { return convolve(call, count); };
  def.gradient = [count](const GradientCall& call) { return convolution_gradient(call, count); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_transposed_convolution(const char* name, std::size_t count, const char* example) {
  OpDef def = convolution_record(name, count, true, example);
  def.doc =
      "The transpose of a convolution: each element of the data adds the kernel, times itself, to "
      "a\n"
      "window of the result.";
  def.type_rule = [count](TypeCall& call) { return transposed_rule(call, count); };
  def.definition = [count](const DefinitionCall& call) { return convolve_transposed(call, count); };
  def.gradient = [count](const GradientCall& call) { return transposed_gradient(call, count); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_backward_weight() {
  OpDef def;
  def.name = "nn.conv2d_backward_weight";
  def.level = 2;
  def.doc = "The adjoint of the weight of `nn.conv2d`.";
  def.example =
      "nn.conv2d_backward_weight([[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0]]]], kernel_size=[1, 2])\n"
      "// expect: [[[[21.0, 32.0]]]]";
  def.inputs = {{"grad", "the adjoint of the convolution's result"},
                {"data", "what was convolved"}};
  def.attrs = convolution_attrs(2, false);
  lang::set_attrs_struct(def.name, "Conv2DAttrs");
  def.type_rule = backward_weight_rule;
  def.definition = [](const DefinitionCall& call) {
    const Convolution conv = convolution_of(call.attrs, 2);
    const auto& result = *lang::as<TensorType>(call.result);
    return build::let("padded", padded_data(conv, call.args[1]), [&](const Expr& padded) {
      return build::comprehension(result.shape.dims(), [&](const Indices& target) {
        return correlate(conv, call.args[0], padded,
                         extent_expr(lead_extent(conv.kernel, result.shape.dims(), 0)),
                         extent_expr(lead_extent(conv.kernel, result.shape.dims(), 1)), target,
                         result.dtype.known());
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_convolution_operators() {
  add_convolution("nn.conv1d", 1,
                  "nn.conv1d([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]])\n// expect: [[[21.0, 32.0]]]");
  add_convolution("nn.conv2d", 2,
                  "nn.conv2d([[[[1.0, 2.0, 3.0]]]], [[[[1.0, 10.0]]]], padding=[0, 1])\n"
                  "// expect: [[[[10.0, 21.0, 32.0,  3.0]]]]");
  add_convolution("nn.conv3d", 3,
                  "nn.conv3d([[[[[1.0, 2.0, 3.0]]]]], [[[[[1.0, 10.0]]]]])\n"
                  "// expect: [[[[[21.0, 32.0]]]]]");
  add_transposed_convolution("nn.conv1d_transpose", 1,
                             "nn.conv1d_transpose([[[1.0, 2.0]]], [[[1.0, 10.0]]])\n"
                             "// expect: [[[ 1.0, 12.0, 20.0]]]");
  add_transposed_convolution(
      "nn.conv2d_transpose", 2,
      "nn.conv2d_transpose([[[[1.0, 2.0]]]], [[[[1.0, 10.0]]]], strides=[1, 2])\n"
      "// expect: [[[[ 1.0, 10.0,  2.0, 20.0]]]]");
  add_transposed_convolution("nn.conv3d_transpose", 3,
                             "nn.conv3d_transpose([[[[[1.0, 2.0]]]]], [[[[[1.0, 10.0]]]]])\n"
                             "// expect: [[[[[ 1.0, 12.0, 20.0]]]]]");
  add_backward_weight();
}

}  // namespace relay::stdlib
