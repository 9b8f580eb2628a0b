#include "opt/channel_scale.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lang/build.h"
#include "opt/layout.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

std::vector<std::int64_t> without_leading_ones(const std::vector<std::int64_t>& extents) {
  const auto first =
      std::find_if(extents.begin(), extents.end(), [](std::int64_t extent) { return extent != 1; });
  return {first, extents.end()};
}

// The same numbers in another shape; itself where the two broadcast alike.
Expr in_shape(const Expr& tensor, const std::vector<std::int64_t>& extents) {
  if (without_leading_ones(*constant_extents(tensor->type)) == without_leading_ones(extents))
    return tensor;
  return build::op("reshape", {tensor}, {{"newshape", lang::AttrValue::ints(extents)}});
}

std::int64_t count_along(const std::vector<std::int64_t>& extents,
                         const std::vector<std::size_t>& axes) {
  return std::accumulate(
      axes.begin(), axes.end(), std::int64_t{1},
      [&](std::int64_t count, std::size_t axis) { return count * extents[axis]; });
}

bool holds_for_all(const lang::Tensor& tensor, bool (*holds)(double)) {
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    if (!holds(tensor.number_at(i))) return false;
  }
  return true;
}

bool is_usable(double factor) { return std::isnormal(factor) && std::isnormal(1 / factor); }

}  // namespace

ChannelScale::ChannelScale(const Expr& scale, const Expr& data, const Definitions& definitions) {
  const auto extents = constant_extents(scale->type);
  const auto data_extents = constant_extents(data->type);
  if (!extents || !data_extents || extents->size() > data_extents->size() ||
      !lang::is_float(dtype_of(data)))
    return;
  data_extents_ = *data_extents;
  extents_.assign(data_extents_.size() - extents->size(), 1);
  extents_.insert(extents_.end(), extents->begin(), extents->end());
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    if (extents_[i] != 1 && extents_[i] != data_extents_[i]) return;
  }
  scale_ = scale;
  const auto* constant = lang::as<lang::Constant>(definitions.of(scale));
  if (!constant) return;
  can_divide_ = holds_for_all(*constant->value, is_usable);
  is_positive_ =
      can_divide_ && holds_for_all(*constant->value, [](double factor) { return factor > 0; });
}

bool ChannelScale::is_one_off(const std::vector<std::size_t>& axes) const {
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    if (extents_[i] != 1 && std::find(axes.begin(), axes.end(), i) == axes.end()) return false;
  }
  return true;
}

bool ChannelScale::passes(const lang::Call& call, const ScalingRow& row) const {
  if (row.how == Scaling::Positive && !is_positive_) return false;
  if (row.layout.empty()) return true;
  const std::string letters = letters_of(call.attrs->get_string(std::string(row.layout)));
  for (std::size_t i = 0; i < letters.size() && i < extents_.size(); ++i) {
    if (extents_[i] != 1 && std::string("DHW").find(letters[i]) != std::string::npos) return false;
  }
  return letters.size() == extents_.size();
}

Expr ChannelScale::combined(const char* op, const Expr& other) const {
  const Expr made = build::op(op, {other, scale_});
  const auto extents = constant_extents(made->type);
  return extents && without_leading_ones(*extents) != without_leading_ones(data_extents_) ? made
                                                                                          : Expr();
}
Expr ChannelScale::times(const Expr& other) const { return combined("multiply", other); }
Expr ChannelScale::divided(const Expr& other) const {
  return can_divide_ ? combined("divide", other) : Expr();
}

Expr ChannelScale::bias_times(const lang::Call& call) const {
  const std::int64_t axis = place_of_axis(call.attrs->get_int("axis"), extents_.size());
  const Expr factor = along({static_cast<std::size_t>(axis)}, call.args[1], {0});
  return factor ? build::op("multiply", {call.args[1], factor}) : Expr();
}
Expr ChannelScale::bias_divided(const lang::Call& call) const {
  const Expr product = can_divide_ ? bias_times(call) : Expr();
  return product ? build::op("divide", lang::cast<lang::Call>(product).args) : Expr();
}

// The factors of the channels on `axes` of the data, where `tensor` has as many on axes of its own.
Expr ChannelScale::along(const std::vector<std::size_t>& axes, const Expr& tensor,
                         const std::vector<std::size_t>& tensor_axes) const {
  const auto extents = constant_extents(tensor->type);
  if (!extents || !is_one_off(axes) || dtype_of(tensor) != dtype_of(scale_)) return nullptr;
  std::vector<std::int64_t> shape(extents->size(), 1);
  const std::int64_t count = count_along(extents_, axes);
  if (count == 1) return in_shape(scale_, shape);
  if (count != count_along(data_extents_, axes) || count != count_along(*extents, tensor_axes))
    return nullptr;
  for (const std::size_t axis : tensor_axes) shape[axis] = (*extents)[axis];
  return in_shape(scale_, shape);
}

Expr ChannelScale::weight_of_scaled_data(const lang::Call& call) const {
  const auto axes = product_axes(call);
  const auto extents = constant_extents(call.args[1]->type);
  if (!axes || !extents) return nullptr;
  // A channel of a grouped convolution belongs to one group: each has a result of its own, or the
  // inputs of the weight do not tell the channels apart.
  const bool is_depthwise = axes->groups > 1 && count_along(*extents, axes->weight_inputs) == 1;
  if (axes->groups > 1 && !is_depthwise && !is_one_off({})) return nullptr;
  const Expr factor =
      along(axes->data, call.args[1], is_depthwise ? axes->weight_outputs : axes->weight_inputs);
  return factor ? build::op("multiply", {call.args[1], factor}) : Expr();
}

Expr ChannelScale::weight_of_scaled_result(const lang::Call& call) const {
  const auto axes = product_axes(call);
  const Expr factor = axes ? along(axes->result, call.args[1], axes->weight_outputs) : Expr();
  return factor ? build::op("multiply", {call.args[1], factor}) : Expr();
}

}  // namespace relay::opt
