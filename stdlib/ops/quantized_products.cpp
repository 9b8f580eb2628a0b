// Products of quantized tensors: the plain operators on values less their zero points, in int32 or
// wider. The scale of the result is the product of the scales.

#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/quantized.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// One quantized product, by the plain operator that it is made of.
struct Product {
  const char* name;
  const char* plain;
  const char* doc;
  const char* example;
  std::vector<DType> data, weight, out;
  // The axis of the weight on which its channels are. Blocked ones take scalars alone: nothing.
  std::optional<std::size_t> (*channels)(const AttrsRef& attrs, std::size_t rank);
};

// How many channels the weight's scale and zero point may be for: of a grouped convolution all
// those of the result.
Dim channel_count(const AttrsRef& attrs, const Dim& extent) {
  const AttrValue* channels = attrs->find("channels");
  const AttrValue* groups = attrs->find("groups");
  if (groups && *groups->as_int() != 1 && channels && channels->as_int())
    return Dim(*channels->as_int());
  return extent;
}

RuleOutcome product_rule(TypeCall& call, const Product& product) {
  // Before anything can fail: numbers that are written take the dtype of what they meet first.
  require_scalar(call, 2, DType::Int32);
  require_scalar(call, 4, DType::Float32);
  call.solver.unify(call.tensor_node(3).dtype, DTypeTerm(DType::Int32));
  call.solver.unify(call.tensor_node(5).dtype, DTypeTerm(DType::Float32));
  if (call.attrs->is_null("out_dtype")) {
    lang::fail(DiagnosticKind::MissingAttribute,
               "`" + call.op.name + "` needs `out_dtype`: nothing else tells it", call.span);
  }
  require_dtype(call, "an `out_dtype`", call.attrs->get_dtype("out_dtype"), product.out);
  for (const std::size_t i : {0, 1}) {
    const DTypeTerm dtype = call.tensor_node(i).dtype;
    call.solver.require(dtype, PrimOperands::kInt);
    require_dtype(call, i == 0 ? "data" : "a weight", dtype,
                  i == 0 ? product.data : product.weight);
  }
  const RuleOutcome outcome = lang::OpRegistry::instance().get(product.plain).type_rule(call);
  const Shape weight = as_tensor(call.solver.resolve(call.tensor(1))).shape;
  if (!weight.has_rank()) return RuleOutcome::Stuck;
  const auto axis = product.channels(call.attrs, weight.rank());
  const Dim channels = axis ? channel_count(call.attrs, weight[*axis]) : Dim(1);
  const bool has_zero = require_per_channel(call, 3, DType::Int32, channels);
  const bool has_scale = require_per_channel(call, 5, DType::Float32, channels);
  return has_zero && has_scale ? outcome : RuleOutcome::Stuck;
}

// The weight less its zero points. Those of a depthwise convolution with several results for each
// channel run along two axes of the weight; then they are refused.
Expr shifted_weight(const DefinitionCall& call, const Product& product) {
  const Expr& weight = call.args[1];
  const std::vector<Dim>& dims = dims_of(weight);
  const std::vector<Dim>& zero_points = dims_of(call.args[3]);
  const auto axis = product.channels(call.attrs, dims.size());
  const bool is_vector = !zero_points.empty() && !zero_points[0].is_constant(1);
  if (is_vector && !(axis && zero_points[0] == dims[*axis])) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: zero points of a weight that run along two axes", {});
  }
  return without_zero_point(weight, call.args[3], axis.value_or(0));
}

void add_product(const Product& product) {
  const OpDef& plain = lang::OpRegistry::instance().get(product.plain);
  OpDef def;
  def.name = product.name;
  def.level = 11;
  def.doc = std::string(product.doc) +
            "\nThe plain product of the values less their zero points, in integers that wrap; its "
            "scale is the product of the scales, which do not enter.";
  def.example = product.example;
  def.inputs = {plain.inputs[0],
                plain.inputs[1],
                {"input_zero_point", "an int32 scalar"},
                {"weight_zero_point", "int32: a scalar, or one for each channel"},
                {"input_scale", "a float32 scalar"},
                {"weight_scale", "float32: a scalar, or one for each channel"}};
  def.attrs = plain.attrs;
  lang::set_attrs_struct(def.name, lang::attrs_struct_of(plain));
  def.type_rule = [product](TypeCall& call) { return product_rule(call, product); };
  def.definition = [product](const DefinitionCall& call) {
    const Expr data = without_zero_point(call.args[0], call.args[2], 0);
    return build::let("data", data, [&](const Expr& x) {
      return build::let("weight", shifted_weight(call, product), [&](const Expr& w) {
        return op(product.plain, {x, w}, call.attrs->list);
      });
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Where the channels of a weight are ---

std::optional<std::size_t> first_axis(const AttrsRef&, std::size_t) { return 0; }
std::optional<std::size_t> no_axis(const AttrsRef&, std::size_t) { return std::nullopt; }
std::optional<std::size_t> kernel_outputs(const AttrsRef& attrs, std::size_t) {
  const AxisLayout layout =
      known_layout(attrs->get_string("kernel_layout"), "OI", spatial_letters(2));
  if (layout.lead[0].block != 0) return std::nullopt;
  return layout.lead[0].axis;
}

const std::vector<DType> kBytes = {DType::Int8, DType::UInt8};
const std::vector<DType> kShorts = {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16};

}  // namespace

void add_quantized_product_operators() {
  const std::vector<DType> words = {DType::Int32, DType::Int64};
  add_product({"qnn.dense", "nn.dense", "A dense layer of quantized tensors.",
               "qnn.dense(cast([[1, 2]], dtype=\"int8\"), cast([[3, 4]], dtype=\"int8\"), 1, 0, "
               "0.5, 0.5, units=1, out_dtype=\"int32\")\n// expect: [[4]]",
               kShorts, kBytes, words, first_axis});
  add_product({"qnn.contrib_dense_pack", "nn.contrib_dense_pack",
               "A dense layer of quantized tensors, with a weight in blocks.",
               "qnn.contrib_dense_pack(cast([[1, 2]], dtype=\"int8\"), cast([[[3], [4]]], "
               "dtype=\"int8\"), 1, 0, 0.5, 0.5, units=1, out_dtype=\"int32\", "
               "weight_layout=\"NC1n\")\n// expect: [[4]]",
               kShorts, kBytes, words, no_axis});
  add_product({"qnn.batch_matmul",
               "nn.batch_matmul",
               "Products of quantized matrices in a batch.",
               "qnn.batch_matmul(cast([[[1, 2]]], dtype=\"int8\"), cast([[[3, 4]]], "
               "dtype=\"int8\"), 1, 0, 0.5, 0.5, transpose_b=True, out_dtype=\"int32\")\n"
               "// expect: [[[4]]]",
               kBytes,
               kBytes,
               {DType::Int32},
               no_axis});
  add_product({"qnn.conv2d",
               "nn.conv2d",
               "A convolution of quantized tensors. Padding stands for the zero point.",
               "qnn.conv2d(cast([[[[1, 2]]]], dtype=\"int8\"), cast([[[[3, 4]]]], "
               "dtype=\"int8\"), 1, 0, 0.5, 0.5, padding=[0, 1], out_dtype=\"int32\")\n"
               "// expect: [[[[0, 4, 3]]]]",
               {DType::Int8, DType::UInt8, DType::Int16},
               {DType::Int8, DType::UInt8, DType::Int16},
               {DType::Int16, DType::Int32, DType::Int64},
               kernel_outputs});
  add_product({"qnn.conv2d_transpose",
               "nn.conv2d_transpose",
               "A transposed convolution of quantized tensors.",
               "qnn.conv2d_transpose(cast([[[[1, 2]]]], dtype=\"int8\"), cast([[[[3, 4]]]], "
               "dtype=\"int8\"), 1, 0, 0.5, 0.5, out_dtype=\"int32\")\n"
               "// expect: [[[[0, 3, 4]]]]",
               kBytes,
               kBytes,
               {DType::Int16, DType::Int32},
               kernel_outputs});
}

}  // namespace relay::stdlib
