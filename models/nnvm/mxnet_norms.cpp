#include <algorithm>

#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/mxnet_builders.h"

namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

std::string epsilon_option(OperatorCall& call, double usual) {
  return option("epsilon", call.attributes.number("eps", usual), 1e-5);
}

}  // namespace

void mx_batch_norm(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  attributes.ignore({"momentum", "use_global_stats", "min_calib_range", "max_calib_range", "key",
                     "ndev", "act_type"});
  if (attributes.flag("output_mean_var", false)) call.unsupported("`output_mean_var`");
  const auto axis = call.axis(attributes.integer("axis", 1), call.rank(0));
  const std::int64_t channels = call.extent(0, static_cast<std::size_t>(axis));
  for (std::size_t i = 1; i < 5; ++i) call.expect(i, {channels}, call.dtype(0));
  // A fixed gamma is 1, whatever the file has for it.
  const bool has_gamma = !attributes.flag("fix_gamma", true);
  call.result(fmt::format("nn.batch_norm({}{}{}{}).0", fmt::join(call.texts(), ", "),
                          option("axis", axis, std::int64_t{1}), epsilon_option(call, 1e-3),
                          option("scale", has_gamma, true)));
}

void mx_instance_norm(OperatorCall& call) {
  const std::int64_t channels = call.extent(0, 1);
  call.expect(1, {channels}, call.dtype(0));
  call.expect(2, {channels}, call.dtype(0));
  call.result(fmt::format("nn.instance_norm({}{})", fmt::join(call.texts(), ", "),
                          epsilon_option(call, 1e-3)));
}

void mx_layer_norm(OperatorCall& call) {
  const auto axis = call.axis(call.attributes.integer("axis", -1), call.rank(0));
  if (call.attributes.flag("output_mean_var", false)) call.unsupported("`output_mean_var`");
  const std::int64_t extent = call.extent(0, static_cast<std::size_t>(axis));
  call.expect(1, {extent}, call.dtype(0));
  call.expect(2, {extent}, call.dtype(0));
  const auto last = static_cast<std::int64_t>(call.rank(0)) - 1;
  call.result(fmt::format("nn.layer_norm({}{}{})", fmt::join(call.texts(), ", "),
                          option("axis", axis, last), epsilon_option(call, 1e-5)));
}

void mx_group_norm(OperatorCall& call) {
  const std::int64_t groups = call.attributes.integer("num_groups", 1);
  if (call.attributes.flag("output_mean_var", false)) call.unsupported("`output_mean_var`");
  const std::int64_t channels = call.extent(0, 1);
  if (groups < 1 || channels % groups != 0)
    call.bad(fmt::format("{} channels in {} groups", channels, groups));
  // Gamma and beta are one number for each group until MXNet 1.9, for each channel since.
  if (!call.is_known(1)) call.expect(1, {channels}, call.dtype(0));
  const std::int64_t given = call.extent(1, 0);
  if (given != channels) call.expect(1, {groups}, call.dtype(0));
  call.expect(2, {given}, call.dtype(0));
  const auto for_channels = [&](std::size_t i) {
    return given == channels
               ? call.text(i)
               : fmt::format("repeat({}, repeats={}, axis=0)", call.text(i), channels / groups);
  };
  call.result(fmt::format("nn.group_norm({}, {}, {}, num_groups={}{})", call.text(0),
                          for_channels(1), for_channels(2), groups, epsilon_option(call, 1e-5)));
}

void mx_l2_normalization(OperatorCall& call) {
  const std::string mode = call.attributes.text("mode", "instance");
  Integers axes;
  const auto rank = static_cast<std::int64_t>(call.rank(0));
  if (mode == "channel") {
    axes = {1};
  } else if (mode == "instance" || mode == "spatial") {
    for (std::int64_t axis = mode == "instance" ? 1 : 2; axis < rank; ++axis) axes.push_back(axis);
  } else {
    call.unsupported(fmt::format("`mode={}`", mode));
  }
  const std::string& x = call.text(0);
  call.result(fmt::format("{} / sqrt(sum({} * {}, axis={}, keepdims=True) + {})", x, x, x,
                          text_of(axes), text_of(call.attributes.number("eps", 1e-10))));
}

void mx_lrn(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  call.result(fmt::format("nn.lrn({}, size={}, bias={}, alpha={}, beta={})", call.text(0),
                          attributes.integer("nsize"), attributes.number("knorm", 2),
                          attributes.number("alpha", 1e-4), attributes.number("beta", 0.75)));
}

void mx_norm(OperatorCall& call) {
  const std::int64_t order = call.attributes.integer("ord", 2);
  if (order != 1 && order != 2) call.unsupported(fmt::format("`ord={}`", order));
  Integers axes = call.attributes.integers("axis", {});
  for (std::int64_t& axis : axes) axis = call.axis(axis, call.rank(0));
  const std::string& x = call.text(0);
  const std::string sum = fmt::format(
      "sum({}{}{})", order == 1 ? fmt::format("abs({})", x) : fmt::format("{} * {}", x, x),
      option("axis", axes, Integers()),
      option("keepdims", call.attributes.flag("keepdims", false), false));
  result_of_rank(call, order == 1 ? sum : fmt::format("sqrt({})", sum));
}

}  // namespace relay::models::nnvm
