// Operators for one vendor's hardware or library. Those on blocked layouts work; weight transforms
// and what needs a device are typed and refused when they run.

#include "stdlib/ops/vendor.h"

#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

OpDef unsupported_operator(const char* name, int level, const char* doc, const char* instead,
                           const std::string& example) {
  OpDef def;
  def.name = name;
  def.level = level;
  def.doc =
      std::string(doc) + "\nTyped as in Relay, and not supported when it runs: " + instead + ".";
  def.example = example;
  def.expansion = [name = std::string(name),
                   instead = std::string(instead)](const DefinitionCall&) -> Expr {
    lang::fail(DiagnosticKind::Unsupported, "not supported: `" + name + "`: " + instead, {});
  };
  def.differentiable = false;
  return def;
}

void refuse(const TypeCall& call, const char* instead) {
  lang::fail(DiagnosticKind::Unsupported,
             "not supported: `" + call.op.name + "`: " + std::string(instead), call.span);
}

std::string typed_example(const std::string& params, const std::string& call) {
  return "def typed(" + params + ") { " + call + " }\n1\n// expect: 1";
}

namespace {

DTypeTerm packed_product_dtype(TypeCall& call, const DTypeTerm& a, const DTypeTerm& b) {
  call.solver.require(a, PrimOperands::kNumeric);
  if (call.attrs->is_null("out_dtype")) call.solver.unify(a, b);
  return attr_dtype(call.attrs, "out_dtype", a);
}

// --- nn.contrib_dense_pack ---

RuleOutcome dense_pack_rule(TypeCall& call) {
  const AxisLayout layout = layout_of(call, "weight_layout", "NC", "");
  const Type data = call.tensor(0);
  const Type weight = call.tensor(1);
  const Shape known = result_shape(
      call, packed_product_dtype(call, as_tensor(data).dtype, as_tensor(weight).dtype));
  const Shape& given = as_tensor(weight).shape;
  if (given.has_rank() && given.rank() != layout.rank) {
    call.fail(DiagnosticKind::RankMismatch, "a weight of layout `" + layout.letters +
                                                "` has rank " + std::to_string(layout.rank) +
                                                ", and `" + to_string(given) + "` has rank " +
                                                std::to_string(given.rank()));
  }
  const Shape packed = with_rank(call, given, layout.rank);
  for (const AxisLayout::Lead& lead : layout.lead) {
    if (lead.block != 0) call.solver.unify(packed[lead.inner], Dim(lead.block));
  }
  const Dim units = lead_extent(layout, packed.dims(), 0);
  if (!call.attrs->is_null("units")) {
    const Dim stated = call.attrs->get_int("units");
    if (units.is_constant() && !(units == stated)) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "`units` is " + stated.to_string() + ", and the weight has " + units.to_string());
    }
    call.solver.unify(units, stated);
  }
  const Shape& shape = as_tensor(data).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() == 0) call.fail(DiagnosticKind::RankMismatch, "the data must not be a scalar");
  const Dim inputs = lead_extent(layout, packed.dims(), 1);
  if (inputs.is_constant() && shape[shape.rank() - 1].is_constant() &&
      !(inputs == shape[shape.rank() - 1])) {
    call.fail(DiagnosticKind::ShapeMismatch, "the last axis of the data is " +
                                                 shape[shape.rank() - 1].to_string() +
                                                 ", and the weight takes " + inputs.to_string());
  }
  call.solver.unify(shape[shape.rank() - 1], inputs);
  std::vector<Dim> dims = shape.dims();
  dims.back() = units;
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

Expr dense_pack(const DefinitionCall& call) {
  const AxisLayout layout = known_layout(call.attrs->get_string("weight_layout"), "NC", "");
  const Expr& data = call.args[0];
  const Expr& weight = call.args[1];
  const auto& result = *lang::as<TensorType>(call.result);
  const DType dtype = result.dtype.known();
  return build::comprehension(result.shape.dims(), [&](const Indices& out) {
    return build::reduction(ReduceOp::Sum, {dims_of(data).back()}, [&](const Indices& k) {
      Indices from = out;
      from.back() = k[0];
      return build::mul(
          build::cast_to(dtype, build::at(data, from)),
          build::cast_to(dtype, build::at(weight, in_layout(layout, out.back(), k[0], {}))));
    });
  });
}

void add_dense_pack() {
  OpDef def;
  def.name = "nn.contrib_dense_pack";
  def.level = 10;
  def.doc =
      "The data times the transposed weight, which is stored in blocks.\n"
      "In layout `NC8n` a weight of (units, k) has the shape (units / 8, k, 8).";
  def.example =
      "nn.contrib_dense_pack([[1.0, 2.0]], [[[1.0, 0.0], [1.0, 3.0]]], units=2, "
      "weight_layout=\"NC2n\")\n// expect: [[3.0, 6.0]]";
  def.inputs = {{"data", "(.., k)"}, {"weight", "the weight in blocks, as `weight_layout` says"}};
  AttrSpec units = nullable_attr("units", AttrKind::Int, "how many results, if to be checked");
  units.default_value.reset();
  def.attrs = {units,
               nullable_attr("out_dtype", AttrKind::DType,
                             "dtype of products and sums; None: that of the operands"),
               optional_attr("weight_layout", AttrKind::String, "NC",
                             "which axis of the weight holds what")};
  lang::set_attrs_struct(def.name, "DensePackAttrs");
  def.type_rule = dense_pack_rule;
  def.definition = dense_pack;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Convolutions on blocked layouts: those of the plain operator, which takes them too ---

void add_blocked_convolution(const char* name, const char* doc, const char* example) {
  OpDef def = lang::OpRegistry::instance().get("nn.conv2d");
  lang::set_attrs_struct(name, lang::attrs_struct_of(def));
  def.name = name;
  def.level = 10;
  def.doc = doc;
  def.example = example;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_blocked_convolutions() {
  add_blocked_convolution(
      "nn.contrib_conv2d_NCHWc",
      "`nn.conv2d` on data and weights in blocks of channels, such as `NCHW8c` and `OIHW8i8o`.",
      "nn.contrib_conv2d_NCHWc([[[[[1.0, 2.0]]]]], [[[[[[3.0], [4.0]]]]]], "
      "data_layout=\"NCHW2c\", kernel_layout=\"OIHW2i1o\", out_layout=\"NCHW1c\")\n"
      "// expect: [[[[[11.0]]]]]");
  add_blocked_convolution(
      "nn.contrib_depthwise_conv2d_NCHWc",
      "A `nn.conv2d` with a group for each channel, on data and weights in blocks of channels, "
      "such "
      "as\n"
      "`NCHW8c` and `OIHW1i8o`.",
      "nn.contrib_depthwise_conv2d_NCHWc([[[[[1.0, 2.0]]]]], [[[[[[3.0, 4.0]]]]]], groups=2, "
      "data_layout=\"NCHW2c\", kernel_layout=\"OIHW1i2o\", out_layout=\"NCHW2c\")\n"
      "// expect: [[[[[3.0, 8.0]]]]]");
}

// --- Transforms of weights, and convolutions on transformed weights ---

constexpr const char* kUsePlain = "the plain convolution computes the same";

Dim rounded_up(const Dim& dim, std::int64_t by) {
  return Dim::floor_div(dim + Dim(by - 1), Dim(by));
}

// The shape of the transformed weight, by the dims of the plain one.
using Transformed = std::vector<Dim> (*)(const AttrsRef& attrs, const std::vector<Dim>& weight);

void add_transform(const char* name, const char* attrs_struct, std::size_t rank, const char* doc,
                   const std::vector<const char*>& attrs, Transformed shape,
                   const std::string& example) {
  OpDef def = unsupported_operator(name, 10, doc, kUsePlain, example);
  def.inputs = {{"weight", "the weight of a convolution"}};
  lang::set_attrs_struct(def.name, attrs_struct);
  for (const char* attr : attrs)
    def.attrs.push_back(required_attr(attr, AttrKind::Int, "how the transform is blocked"));
  const bool casts = std::string(name).find("nnpack") != std::string::npos;
  if (casts) {
    def.attrs.push_back(nullable_attr("out_dtype", AttrKind::DType,
                                      "dtype of the result; None: that of the weight"));
  }
  def.type_rule = [rank, shape](TypeCall& call) {
    for (const lang::Attr& attr : call.attrs->list) {
      if (attr.value.as_int() && attr.key != "convolution_algorithm" && *attr.value.as_int() < 1)
        lang::fail(DiagnosticKind::BadAttribute, "`" + attr.key + "` must be at least 1",
                   call.span);
    }
    const Shape weight = ranked(call, 0, rank);
    const DTypeTerm dtype = attr_dtype(call.attrs, "out_dtype", call.tensor_node(0).dtype);
    call.returns(lang::tensor_type(Shape(shape(call.attrs, weight.dims())), dtype));
    return RuleOutcome::Solved;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_transforms() {
  add_transform(
      "nn.contrib_conv2d_winograd_weight_transform", "ConvWinogradWeightTransformAttrs", 4,
      "The weight of `nn.conv2d` (`OIHW`) as Winograd's algorithm takes it.", {"tile_size"},
      [](const AttrsRef& attrs, const std::vector<Dim>& w) -> std::vector<Dim> {
        const Dim more = Dim(attrs->get_int("tile_size")) - Dim(1);
        return {w[2] + more, w[3] + more, w[0], w[1]};
      },
      typed_example("w: Tensor[(4, 2, 3, 3), float32]",
                    "nn.contrib_conv2d_winograd_weight_transform(w, tile_size=2)"));
  add_transform(
      "nn.contrib_conv3d_winograd_weight_transform", "ConvWinogradWeightTransformAttrs", 5,
      "The weight of `nn.conv3d` (`OIDHW`) as Winograd's algorithm takes it.\n"
      "The depth is transformed too where it equals the height and is between 3 and 7.",
      {"tile_size"},
      [](const AttrsRef& attrs, const std::vector<Dim>& w) -> std::vector<Dim> {
        const Dim more = Dim(attrs->get_int("tile_size")) - Dim(1);
        const bool deep =
            w[2].is_constant() && w[2] == w[3] && w[2].constant() > 2 && w[2].constant() < 8;
        if (deep) return {w[2] + more, w[3] + more, w[4] + more, w[0], w[1]};
        return {w[3] + more, w[4] + more, w[2], w[0], w[1]};
      },
      typed_example("w: Tensor[(4, 2, 3, 3, 3), float32]",
                    "nn.contrib_conv3d_winograd_weight_transform(w, tile_size=2)"));
  add_transform(
      "nn.contrib_conv2d_winograd_nnpack_weight_transform",
      "Conv2DWinogradNNPACKWeightTransformAttrs", 4,
      "The weight of `nn.conv2d` (`OIHW`) as NNPACK's Winograd takes it: tiles of 8 by 8.",
      {"convolution_algorithm"},
      [](const AttrsRef&, const std::vector<Dim>& w) -> std::vector<Dim> {
        return {w[0], w[1], Dim(8), Dim(8)};
      },
      typed_example(
          "w: Tensor[(4, 2, 3, 3), float32]",
          "nn.contrib_conv2d_winograd_nnpack_weight_transform(w, convolution_algorithm=1)"));
  add_transform(
      "nn.contrib_conv2d_gemm_weight_transform", "ConvGemmWeightTransformAttrs", 4,
      "The weight of `nn.conv2d` (`HWIO`) in tiles of a matrix.", {"tile_rows", "tile_cols"},
      [](const AttrsRef& attrs, const std::vector<Dim>& w) -> std::vector<Dim> {
        const std::int64_t rows = attrs->get_int("tile_rows");
        const std::int64_t cols = attrs->get_int("tile_cols");
        return {rounded_up(w[3], rows), rounded_up(w[0] * w[1] * w[2], cols), Dim(rows), Dim(cols)};
      },
      typed_example("w: Tensor[(3, 3, 2, 4), float32]",
                    "nn.contrib_conv2d_gemm_weight_transform(w, tile_rows=4, tile_cols=16)"));
}

// The result of a convolution whose kernel is known by `channels` and `kernel_size` alone.
RuleOutcome transformed_rule(TypeCall& call, std::size_t count) {
  check_window(call, count);
  for (const char* key : {"channels", "kernel_size"}) {
    if (!call.attrs->is_null(key)) continue;
    lang::fail(DiagnosticKind::MissingAttribute,
               "`" + call.op.name + "` needs `" + key + "`: a transformed weight does not tell it",
               call.span);
  }
  const std::string_view letters = spatial_letters(count);
  const AxisLayout in = layout_of(call, "data_layout", "NC", letters);
  const bool own = !call.attrs->get_string("out_layout").empty();
  const AxisLayout out = layout_of(call, own ? "out_layout" : "data_layout", "NC", letters);
  const Shape data = ranked(call, 0, in.rank);
  const DTypeTerm dtype =
      packed_product_dtype(call, call.tensor_node(0).dtype, call.tensor_node(1).dtype);
  const Padding padding = padding_of(call.attrs, count);
  const std::vector<std::int64_t> kernel = per_axis(call.attrs, "kernel_size", count);
  const std::vector<std::int64_t> strides = per_axis(call.attrs, "strides", count);
  const std::vector<std::int64_t> dilation = per_axis(call.attrs, "dilation", count);
  std::vector<Dim> spatial;
  for (std::size_t i = 0; i < count; ++i) {
    spatial.push_back(window_places(call, data[in.spatial[i]], kernel[i], padding.front[i],
                                    padding.back[i], strides[i], dilation[i]));
  }
  call.returns(lang::tensor_type(Shape(dims_in_layout(out, lead_extent(in, data.dims(), 0),
                                                      call.attrs->get_int("channels"), spatial)),
                                 dtype));
  return RuleOutcome::Solved;
}

void add_on_transformed(const char* name, const char* attrs_struct, const char* plain,
                        std::size_t count, bool has_tiles, const std::string& example) {
  OpDef def = unsupported_operator(name, 10, "A convolution whose weight has been transformed.",
                                   kUsePlain, example);
  const OpDef& convolution = lang::OpRegistry::instance().get(plain);
  def.inputs = {convolution.inputs[0], {"weight", "the transformed weight"}};
  if (has_tiles)
    def.attrs.push_back(required_attr("tile_size", AttrKind::Int, "how the transform is blocked"));
  def.attrs.insert(def.attrs.end(), convolution.attrs.begin(), convolution.attrs.end());
  lang::set_attrs_struct(def.name, attrs_struct);
  def.type_rule = [count](TypeCall& call) { return transformed_rule(call, count); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_all_on_transformed() {
  const char* params = "x: Tensor[(1, 2, 8, 8), float32], w: Tensor[(4, 4, 4, 2), float32]";
  add_on_transformed(
      "nn.contrib_conv2d_winograd_without_weight_transform", "Conv2DWinogradAttrs", "nn.conv2d", 2,
      true,
      typed_example(params,
                    "nn.contrib_conv2d_winograd_without_weight_transform(x, w, tile_size=2, "
                    "channels=4, kernel_size=[3, 3])"));
  add_on_transformed(
      "nn.contrib_conv3d_winograd_without_weight_transform", "Conv3DWinogradAttrs", "nn.conv3d", 3,
      true,
      typed_example(
          "x: Tensor[(1, 2, 8, 8, 8), float32], w: Tensor[(4, 4, 4, 4, 2), float32]",
          "nn.contrib_conv3d_winograd_without_weight_transform(x, w, tile_size=2, channels=4, "
          "kernel_size=[3, 3, 3])"));
  add_on_transformed(
      "nn.contrib_conv2d_gemm_without_weight_transform", "Conv2DAttrs", "nn.conv2d", 2, false,
      typed_example("x: Tensor[(1, 8, 8, 2), float32], w: Tensor[(1, 2, 4, 16), float32]",
                    "nn.contrib_conv2d_gemm_without_weight_transform(x, w, channels=4, "
                    "kernel_size=[3, 3], data_layout=\"NHWC\")"));
}

// --- torch_op ---

constexpr const char* kNoTorch = "nothing here reads TorchScript; write the function in Relay";

void add_torch_op() {
  OpDef def = unsupported_operator("torch_op", 11, "A call of a serialised TorchScript function.",
                                   kNoTorch, "1\n// expect: 1");
  for (const char* name :
       {"input0", "input1", "input2", "input3", "input4", "input5", "input6", "input7"}) {
    def.inputs.push_back({name, "an argument of the function", true});
  }
  def.attrs = {optional_attr("serialized_function", AttrKind::String, "", "the function"),
               optional_attr("len", AttrKind::Int, -1, "how long its text is")};
  lang::set_attrs_struct(def.name, "TorchFunctionAttrs");
  // Only the function itself could tell the type of its result.
  def.type_rule = [](TypeCall& call) -> RuleOutcome { refuse(call, kNoTorch); };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_vendor_operators() {
  add_dense_pack();
  add_blocked_convolutions();
  add_transforms();
  add_all_on_transformed();
  add_ethosu_operators();
  add_torch_op();
}

}  // namespace relay::stdlib
