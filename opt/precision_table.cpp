#include <array>
#include <cmath>
#include <unordered_map>

#include "lang/op.h"
#include "opt/mixed_precision.h"

namespace relay::opt {

namespace {

struct PrecisionRow {
  Precision precision;
  std::vector<std::string_view> ops;
};

const std::array<PrecisionRow, 4>& precision_rows() {
  static const std::array<PrecisionRow, 4> kRows = {
      {{Precision::Narrow,
        {"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose",
         "nn.conv3d_transpose", "nn.dense", "nn.batch_matmul"}},
       {Precision::Follows,
        {"nn.pad",
         "nn.batch_flatten",
         "concatenate",
         "zeros",
         "split",
         "squeeze",
         "transpose",
         "expand_dims",
         "reshape",
         "dyn.reshape",
         "broadcast_to_like",
         "dyn.broadcast_to",
         "strided_slice",
         "dyn.strided_slice",
         "take",
         "argwhere",
         "where",
         "tile",
         "dyn.tile",
         "scatter",
         "scatter_elements",
         "scatter_nd",
         "full",
         "dyn.full",
         "nn.depth_to_space",
         "less",
         "greater",
         "less_equal",
         "greater_equal",
         "copy",
         "add",
         "subtract",
         "multiply",
         "divide",
         "nn.bias_add",
         "nn.batch_norm",
         "sqrt",
         "max",
         "min",
         "maximum",
         "minimum",
         "argmax",
         "argmin",
         "nn.relu",
         "nn.leaky_relu",
         "nn.prelu",
         "nn.dropout",
         "sigmoid",
         "tanh",
         "fast_tanh",
         "fast_exp",
         "fast_erf",
         "clip",
         "nn.max_pool1d",
         "nn.max_pool2d",
         "nn.max_pool3d",
         "nn.avg_pool1d",
         "nn.avg_pool2d",
         "nn.avg_pool3d",
         "nn.global_max_pool2d",
         "nn.adaptive_max_pool1d",
         "nn.adaptive_max_pool2d",
         "nn.adaptive_max_pool3d",
         "image.resize2d"}},
       {Precision::AsIs, {"cast", "cast_like", "shape_of", "ndarray_size"}},
       {Precision::Wide,
        {"exp", "power", "nn.cross_entropy", "nn.cross_entropy_with_logits", "nn.softmax",
         "nn.l2_normalize", "erf", "arange", "nn.global_avg_pool2d", "nn.adaptive_avg_pool1d",
         "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d", "sum", "mean", "variance",
         "nn.layer_norm"}}}};
  return kRows;
}

const std::unordered_map<const lang::OpDef*, Precision>& precision_table() {
  static const std::unordered_map<const lang::OpDef*, Precision> kTable = [] {
    std::unordered_map<const lang::OpDef*, Precision> table;
    for (const PrecisionRow& row : precision_rows()) {
      for (const std::string_view name : row.ops) {
        if (const lang::OpDef* op = lang::OpRegistry::instance().find(name))
          table.emplace(op, row.precision);
      }
    }
    return table;
  }();
  return kTable;
}

// Is an attribute a number that the narrow type has no place for?
bool leaves_range(const lang::Attrs& attrs, lang::DType narrow) {
  for (const lang::Attr& attr : attrs.list) {
    const double* number = attr.value.as_float();
    if (!number || !std::isfinite(*number)) continue;
    const lang::TensorRef value =
        lang::Tensor::scalar(narrow, lang::bits_from_double(narrow, *number));
    if (!std::isfinite(value->number_at(0))) return true;
  }
  return false;
}

}  // namespace

Precision precision_of(const lang::Call& call, const lang::OpDef& op, lang::DType narrow) {
  if (op.effect != lang::Effect::None) return Precision::Wide;
  const auto found = precision_table().find(&op);
  const Precision precision = found == precision_table().end() ? Precision::Follows : found->second;
  const bool is_out =
      precision == Precision::Follows && call.attrs && leaves_range(*call.attrs, narrow);
  return is_out ? Precision::Wide : precision;
}

bool has_precision(const lang::OpDef& op) { return precision_table().contains(&op); }

}  // namespace relay::opt
