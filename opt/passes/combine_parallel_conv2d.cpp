#include <utility>

#include <fmt/format.h>

#include "lang/build.h"
#include "opt/parallel_calls.h"
#include "opt/pass_program.h"
#include "opt/spatial.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

std::size_t output_axis(const lang::Call& call) {
  return call.attrs->get_string("kernel_layout").find('O');
}

std::size_t channel_axis(const lang::Call& call) {
  const std::string& own = call.attrs->get_string("out_layout");
  return (own.empty() ? call.attrs->get_string("data_layout") : own).find('C');
}

// All that must be the same: everything but the number of outputs.
std::string kind_of_conv(const lang::Call& call) {
  const std::string& kernel = call.attrs->get_string("kernel_layout");
  const std::string& result = call.attrs->get_string("out_layout");
  if (call.attrs->get_int("groups") != 1 || !spatial_axes(kernel) ||
      !spatial_axes(call.attrs->get_string("data_layout")) || !spatial_axes(result))
    return "";
  const std::size_t outputs = output_axis(call);
  if (outputs == std::string::npos || channel_axis(call) == std::string::npos ||
      !known_extent(call.args[1], outputs))
    return "";
  std::string text = fmt::format("{} {}", lang::to_string(call.args[0]->type),
                                 lang::name_of(dtype_of(call.args[1])));
  const auto& dims = lang::as<lang::TensorType>(call.args[1]->type)->shape.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis == outputs) continue;
    if (dims[axis].is_any()) return "";
    text += " " + dims[axis].to_string();
  }
  for (const lang::Attr& attr : call.attrs->list) {
    if (attr.key != "channels") text += " " + attr.key + "=" + attr.value.to_string();
  }
  return text;
}

ParallelCalls parallel_convolutions() {
  return {known::conv2d, kind_of_conv,
          [](const std::vector<const lang::Call*>& calls) {
            const Expr kernel = joined_seconds(calls, output_axis(*calls[0]));
            return build::op("nn.conv2d", {calls[0]->args[0], kernel},
                             with_attrs(calls[0]->attrs, {{"channels", {}}}));
          },
          [](const Expr& result, const std::vector<const lang::Call*>& calls) {
            return parts_along(result, channel_axis(*calls[0]),
                               extents_of_seconds(calls, output_axis(*calls[0])));
          }};
}

}  // namespace

Pass combine_parallel_conv2d_pass() {
  Pass pass;
  pass.name = "CombineParallelConv2D";
  pass.doc = "makes one convolution of several `nn.conv2d` of the same data";
  pass.example =
      R"(def f(x: Tensor[(1, 3, 8, 8), float32], a: Tensor[(2, 3, 1, 1), float32],
  b: Tensor[(4, 3, 1, 1), float32], c: Tensor[(2, 3, 1, 1), float32]) {
  (nn.conv2d(x, a), nn.conv2d(x, b), nn.relu(nn.conv2d(x, c)))
})";
  return joining(std::move(pass), [](const lang::Attrs&) { return parallel_convolutions(); });
}

}  // namespace relay::opt
