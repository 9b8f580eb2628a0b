#include <string>
#include <unordered_map>
#include <utility>

#include "lang/build.h"
#include "opt/fake_quantization_rules.h"
#include "opt/layout.h"

namespace relay::opt {

using lang::as;
using lang::DType;
using lang::Expr;
namespace build = lang::build;

namespace {

using RuleTable = std::unordered_map<std::string_view, FakeQuantizationRules>;

Expr zero_of_int32() { return build::constant_int(DType::Int32, 0); }

// --- Sums ---

// As Relay: the mean of the integers, in int32.
Found averaged(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || data->how.is_per_channel()) return std::nullopt;
  const Expr wide = build::op("cast", {data->integers}, {{"dtype", DType::Int32}});
  const Expr mean = step.again({wide});
  return Affine{build::op("cast", {mean}, {{"dtype", dtype_of(data->integers)}}), data->how, false};
}

// What an operand is in the way of another, in int32; a constant becomes integers for that.
Found in_way_of(const AffineStep& step, std::size_t i, const Quantized& how) {
  const Affine* operand = step.operand(i);
  if (!operand) {
    if (how.is_per_channel() || !constant_value(step.call().args[i], step.definitions()))
      return std::nullopt;
    return Affine{quantized_constant(step.call().args[i], how), how, false};
  }
  const bool is_same = same_quantization(operand->how, how);
  if (is_same && dtype_of(operand->integers) == DType::Int32) return *operand;
  if (how.is_per_channel()) return std::nullopt;
  const Expr made = requantize(*operand, how, DType::Int32);
  return made ? Found(Affine{made, how, operand->is_exact && is_same}) : std::nullopt;
}

// The bias takes the way of the products, which is finer than that of any data.
Found biased(const AffineStep& step) {
  const Affine* data = step.operand(0);
  if (!data || dtype_of(data->integers) != DType::Int32) return std::nullopt;
  const std::int64_t axis = place_of_axis(step.call().attrs->get_int("axis"), step.rank());
  Quantized how = data->how;
  const bool is_along = how.is_per_channel() && how.axis == axis;
  if (is_along) how.axis = 0;
  Found bias = in_way_of(step, 1, how);
  if (!bias && is_along && constant_value(step.call().args[1], step.definitions())) {
    bias = Affine{quantized_constant(step.call().args[1], how), how, false};
  }
  if (!bias || !is_zero(how.zero_point, step.definitions())) return std::nullopt;
  return Affine{step.again({data->integers, bias->integers}), data->how,
                data->is_exact && bias->is_exact};
}

// Where one operand is a product, in int32, the other comes in its way. Zero points are 0 then.
Found added(const AffineStep& step) {
  for (const std::size_t i : {0U, 1U}) {
    const Affine* data = step.operand(i);
    if (!data || dtype_of(data->integers) != DType::Int32 ||
        !is_zero(data->how.zero_point, step.definitions()))
      continue;
    // The channels of both operands, and of the sum, are as far from the last axis.
    const std::int64_t from_behind =
        data->how.axis - static_cast<std::int64_t>(rank_of(step.call().args[i]));
    const auto at_rank = [&](const Expr& tensor) {
      Quantized moved = data->how;
      if (moved.is_per_channel()) moved.axis = place_of_axis(from_behind, rank_of(tensor));
      return moved;
    };
    const Quantized how = at_rank(step.call().args[1 - i]);
    Found other = in_way_of(step, 1 - i, how);
    if (!other && how.is_per_channel() && how.axis >= 0 && !step.operand(1 - i) &&
        constant_value(step.call().args[1 - i], step.definitions())) {
      const auto extents = constant_extents(step.call().args[1 - i]->type);
      const auto channels = constant_extents(how.scale->type);
      if (extents && channels && channels->size() == 1 &&
          (*extents)[static_cast<std::size_t>(how.axis)] == (*channels)[0])
        other = Affine{quantized_constant(step.call().args[1 - i], how), how, false};
    }
    if (!other) continue;
    std::vector<Expr> operands = {data->integers, other->integers};
    if (i == 1) std::swap(operands[0], operands[1]);
    return Affine{step.again(std::move(operands)), at_rank(step.expr()),
                  data->is_exact && other->is_exact};
  }
  return std::nullopt;
}

// --- Products: the plain one in int32, at the product of the scales ---

Expr product_of_scales(const Expr& a, const Expr& b, const Definitions& definitions) {
  const auto* x = constant_value(a, definitions);
  const auto* y = constant_value(b, definitions);
  if (!x || !y || x->rank() != 0) return build::op("multiply", {a, b});
  const lang::TensorRef made = lang::Tensor::make(y->dtype(), y->shape());
  for (std::int64_t i = 0; i < y->element_count(); ++i) {
    const auto product = static_cast<float>(x->number_at(0)) * static_cast<float>(y->number_at(i));
    made->set_bits(i, lang::bits_from_double(y->dtype(), static_cast<double>(product)));
  }
  return lang::make_constant(made);
}

// The axis of the channels in the result, and the one in the weight where a weight may have them.
struct ChannelAxes {
  std::int64_t result;
  std::int64_t weight;
};
using ChannelAxesOf = std::optional<ChannelAxes> (*)(const AffineStep& step);

AffineRule product(const char* name, ChannelAxesOf axes_of_step) {
  return [name, axes_of_step](const AffineStep& step) -> Found {
    const Affine* data = step.operand(0);
    const Affine* weight = step.operand(1);
    const auto axes = axes_of_step(step);
    if (!data || !weight || !axes || data->how.is_per_channel()) return std::nullopt;
    if (weight->how.is_per_channel() && weight->how.axis != axes->weight) return std::nullopt;
    if (lang::size_of(dtype_of(data->integers)) > 1 ||
        lang::size_of(dtype_of(weight->integers)) > 1)
      return std::nullopt;
    std::vector<lang::Attr> attrs = step.call().attrs->list;
    for (lang::Attr& attr : attrs) {
      if (attr.key == "out_dtype") attr.value = DType::Int32;
    }
    const Expr made = build::op(name,
                                {data->integers, weight->integers, data->how.zero_point,
                                 weight->how.zero_point, data->how.scale, weight->how.scale},
                                std::move(attrs));
    const Quantized how = {
        product_of_scales(data->how.scale, weight->how.scale, step.definitions()), zero_of_int32(),
        axes->result};
    return Affine{made, how, data->is_exact && weight->is_exact};
  };
}

std::optional<ChannelAxes> axes_of_convolution(const AffineStep& step) {
  const lang::Attrs& attrs = *step.call().attrs;
  const std::string& layout = attrs.get_string("data_layout");
  const std::string& out = attrs.get_string("out_layout");
  const auto result = axes_of(out.empty() ? layout : out, 'C');
  const auto weight = axes_of(attrs.get_string("kernel_layout"), 'O');
  if (result.size() != 1 || weight.size() != 1) return std::nullopt;
  return ChannelAxes{static_cast<std::int64_t>(result[0]), static_cast<std::int64_t>(weight[0])};
}
std::optional<ChannelAxes> axes_of_dense(const AffineStep& step) {
  return ChannelAxes{static_cast<std::int64_t>(step.rank()) - 1, 0};
}
std::optional<ChannelAxes> axes_of_batches(const AffineStep&) { return ChannelAxes{-1, -1}; }

// --- Where what comes out is quantized at once ---

// An operator of one operand with a quantized counterpart, which has no other attributes.
FinalRule counterpart(const char* name) {
  return [name](const AffineStep& step, const Quantized& wanted, DType dtype) -> Expr {
    const Affine* data = step.operand(0);
    if (!data || data->how.is_per_channel() || wanted.is_per_channel() ||
        dtype_of(data->integers) != dtype || lang::size_of(dtype) > 1)
      return nullptr;
    std::vector<lang::Attr> attrs;
    for (const lang::AttrSpec& attr : lang::OpRegistry::instance().get(name).attrs)
      attrs.push_back({attr.name, *step.call().attrs->find(attr.name)});
    return build::op(
        name,
        {data->integers, data->how.scale, data->how.zero_point, wanted.scale, wanted.zero_point},
        std::move(attrs));
  };
}
// Means over windows, of int32: they are rounded where the result wants it.
Expr mean_in_way_of_result(const AffineStep& step, const Quantized& wanted, DType dtype) {
  const Affine* data = step.operand(0);
  if (!data || wanted.is_per_channel()) return nullptr;
  const Expr wide = requantize(*data, wanted, DType::Int32);
  return wide ? requantize({step.again({wide}), wanted}, wanted, dtype) : Expr();
}

FinalRule sum_counterpart(const char* name) {
  return [name](const AffineStep& step, const Quantized& wanted, DType dtype) -> Expr {
    const Affine* left = step.operand(0);
    const Affine* right = step.operand(1);
    if (!left || !right || wanted.is_per_channel()) return nullptr;
    for (const Affine* each : {left, right}) {
      if (dtype_of(each->integers) != dtype || lang::size_of(dtype) > 1 ||
          each->how.is_per_channel())
        return nullptr;
    }
    return build::op(name,
                     {left->integers, right->integers, left->how.scale, left->how.zero_point,
                      right->how.scale, right->how.zero_point, wanted.scale, wanted.zero_point});
  };
}

Expr concatenated(const AffineStep& step, const Quantized& wanted, DType dtype) {
  const auto* parts = as<lang::Tuple>(step.definitions().of(step.call().args[0]));
  if (!parts || wanted.is_per_channel()) return nullptr;
  std::vector<Expr> integers;
  std::vector<Expr> scales;
  std::vector<Expr> zero_points;
  for (const Expr& part : parts->fields) {
    const Affine* data = step.affine(part);
    if (!data || data->how.is_per_channel() || dtype_of(data->integers) != dtype) return nullptr;
    integers.push_back(data->integers);
    scales.push_back(data->how.scale);
    zero_points.push_back(data->how.zero_point);
  }
  return build::op("qnn.concatenate",
                   {build::tuple(integers), build::tuple(scales), build::tuple(zero_points),
                    wanted.scale, wanted.zero_point},
                   {{"axis", step.call().attrs->get_int("axis")}});
}

RuleTable all_rules() {
  RuleTable rules;
  for (const char* op : {"reshape", "squeeze", "expand_dims", "strided_slice", "nn.batch_flatten",
                         "broadcast_to", "nn.depth_to_space", "nn.space_to_depth", "take", "copy",
                         "repeat", "tile", "reverse", "layout_transform", "annotation.stop_fusion"})
    rules[op] = {moved};
  for (const char* op : {"topk", "max", "min"}) rules[op] = {chosen};
  for (const char* op : {"nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d"})
    rules[op] = {largest_of_window};
  rules["transpose"] = {transposed};
  rules["nn.pad"] = {padded};
  rules["nn.relu"] = {at_least_zero};
  rules["clip"] = {clipped};
  rules["mean"] = {averaged};
  rules["nn.bias_add"] = {biased};
  rules["add"] = {added, sum_counterpart("qnn.add")};
  rules["subtract"] = {added, sum_counterpart("qnn.subtract")};
  rules["multiply"] = {{}, sum_counterpart("qnn.mul")};
  rules["nn.conv2d"] = {product("qnn.conv2d", axes_of_convolution)};
  rules["nn.conv2d_transpose"] = {product("qnn.conv2d_transpose", axes_of_convolution)};
  rules["nn.dense"] = {product("qnn.dense", axes_of_dense)};
  rules["nn.batch_matmul"] = {product("qnn.batch_matmul", axes_of_batches)};
  rules["abs"] = {{}, counterpart("qnn.abs")};
  rules["erf"] = {{}, counterpart("qnn.erf")};
  rules["exp"] = {{}, counterpart("qnn.exp")};
  rules["log"] = {{}, counterpart("qnn.log")};
  rules["rsqrt"] = {{}, counterpart("qnn.rsqrt")};
  rules["sigmoid"] = {{}, counterpart("qnn.sigmoid")};
  rules["sqrt"] = {{}, counterpart("qnn.sqrt")};
  rules["tanh"] = {{}, counterpart("qnn.tanh")};
  rules["nn.leaky_relu"] = {{}, counterpart("qnn.leaky_relu")};
  rules["nn.softmax"] = {{}, counterpart("qnn.softmax")};
  rules["nn.avg_pool2d"] = {{}, counterpart("qnn.avg_pool2d")};
  for (const char* op : {"nn.avg_pool1d", "nn.avg_pool3d", "nn.global_avg_pool2d",
                         "nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d"})
    rules[op] = {{}, mean_in_way_of_result};
  rules["concatenate"] = {{}, concatenated};
  return rules;
}

}  // namespace

const FakeQuantizationRules* fake_quantization_rules(std::string_view op) {
  static const RuleTable kRules = all_rules();
  const auto found = kRules.find(op);
  return found == kRules.end() ? nullptr : &found->second;
}

}  // namespace relay::opt
