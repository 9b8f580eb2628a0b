#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/mxnet_builders.h"

namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

// A list of so many, where an empty one stands for the usual.
Integers filled_up(OperatorCall& call, std::string_view key, std::size_t count,
                   std::int64_t usual) {
  Integers all = call.attributes.integers(key, {});
  if (all.empty()) all.assign(count, usual);
  if (all.size() != count)
    call.bad(fmt::format("attribute `{}` has {} numbers for {} axes", key, all.size(), count));
  return all;
}

std::string usual_layout(std::size_t axes) {
  return "NC" + std::string(std::string_view("DHW").substr(3 - std::min<std::size_t>(axes, 3)));
}

Window mx_window(OperatorCall& call) {
  Window window;
  window.kernel = call.attributes.integers("kernel");
  const std::size_t axes = window.kernel.size();
  window.strides = filled_up(call, "stride", axes, 1);
  window.dilation = filled_up(call, "dilate", axes, 1);
  window.padding = filled_up(call, "pad", axes, 0);
  window.channels = call.attributes.integer("num_filter");
  window.groups = call.attributes.integer("num_group", 1);
  window.layout = call.attributes.text("layout", usual_layout(axes));
  window.kernel_layout = window.layout;  // `OIHW` of `NCHW`, `OHWI` of `NHWC`
  for (char& letter : window.kernel_layout) {
    if (letter == 'N' || letter == 'C') letter = letter == 'N' ? 'O' : 'I';
  }
  return window;
}

}  // namespace

void mx_convolution(OperatorCall& call) {
  Window window = mx_window(call);
  window.has_bias = !call.attributes.flag("no_bias", false);
  convolve(call, window);
}

void mx_deconvolution(OperatorCall& call) {
  Window window = mx_window(call);
  const std::size_t axes = window.kernel.size();
  window.is_transposed = true;
  window.has_bias = !call.attributes.flag("no_bias", true);
  window.output_padding = filled_up(call, "adj", axes, 0);
  // The weight's first axis is that of the data's channels.
  for (char& letter : window.kernel_layout) {
    if (letter == 'O' || letter == 'I') letter = letter == 'O' ? 'I' : 'O';
  }
  const Integers target = call.attributes.integers("target_shape", {});
  if (!target.empty() && target.size() != axes)
    call.bad(
        fmt::format("attribute `target_shape` has {} numbers for {} axes", target.size(), axes));
  for (std::size_t axis = 0; axis < target.size(); ++axis) {
    if (target[axis] == 0) continue;
    const std::int64_t full = window.strides[axis] * (call.extent(0, axis + 2) - 1) +
                              (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const std::int64_t surplus = full - target[axis];
    if (surplus < 0)
      call.bad(fmt::format("`target_shape` is longer than the {} that there are", full));
    window.padding[axis] = (surplus + 1) / 2;
    window.output_padding[axis] = surplus % 2;
  }
  convolve(call, window);
}

void mx_fully_connected(OperatorCall& call) {
  const std::int64_t units = call.attributes.integer("num_hidden");
  const bool has_bias = !call.attributes.flag("no_bias", false);
  const std::size_t rank = call.rank(0);
  if (rank == 0) call.bad("its data is a scalar");
  const bool flattens = call.attributes.flag("flatten", true) && rank != 2;
  std::int64_t inputs = 1;
  for (std::size_t axis = flattens ? 1 : rank - 1; axis < rank; ++axis) {
    if (__builtin_mul_overflow(inputs, call.extent(0, axis), &inputs))
      call.bad("its data has more elements than there can be");
  }
  call.expect(1, {units, inputs}, call.dtype(0));
  std::string text = fmt::format(
      "nn.dense({}, {})",
      flattens ? fmt::format("nn.batch_flatten({})", call.text(0)) : call.text(0), call.text(1));
  if (has_bias) {
    call.expect(2, {units}, call.dtype(0));
    text = biased(text, call.text(2), call.rank(0));
  }
  call.result(text);
}

namespace {

void global_pooling(OperatorCall& call, const std::string& type, const std::string& layout) {
  call.attributes.ignore({"kernel", "stride", "pad", "pooling_convention", "count_include_pad"});
  Integers axes;
  for (std::size_t axis = 0; axis < layout.size(); ++axis) {
    if (layout[axis] != 'N' && layout[axis] != 'C') axes.push_back(static_cast<std::int64_t>(axis));
  }
  const bool is_named = axes.size() == 2 && type != "sum";
  call.result(is_named ? fmt::format("nn.global_{}_pool2d({}{})", type, call.text(0),
                                     option("layout", layout, "NCHW"))
                       : fmt::format("{}({}, axis={}, keepdims=True)",
                                     type == "avg" ? "mean" : type, call.text(0), text_of(axes)));
}

}  // namespace

void mx_pooling(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::size_t rank = call.rank(0);
  if (rank < 3 || rank > 5) call.unsupported(fmt::format("pooling of rank {}", rank));
  const std::size_t axes = rank - 2;
  const std::string type = attributes.text("pool_type", "max");
  const std::string layout = attributes.text("layout", usual_layout(axes));
  if (type != "max" && type != "avg" && type != "sum")
    call.unsupported(fmt::format("`pool_type={}`", type));
  if (attributes.flag("global_pool", false)) return global_pooling(call, type, layout);
  const Integers kernel = attributes.integers("kernel");
  if (kernel.size() != axes)
    call.bad(fmt::format("a window over {} axes on data of rank {}", kernel.size(), rank));
  const Integers strides = filled_up(call, "stride", axes, 1);
  Integers padding = filled_up(call, "pad", axes, 0);
  const std::string convention = attributes.text("pooling_convention", "valid");
  if (convention != "valid" && convention != "full")
    call.unsupported(fmt::format("`pooling_convention={}`", convention));
  const bool is_full = convention == "full";
  const bool counts_padding = attributes.flag("count_include_pad", true) && type != "max";
  const Integers zeros(axes, 0);
  std::string data = call.text(0);
  bool includes = counts_padding && padding != zeros;
  if (includes && is_full) {
    // What overhangs behind the padding does not count, and the padding does: it becomes data.
    std::vector<std::string> widths;
    for (std::size_t axis = 0, spatial = 0; axis < rank; ++axis) {
      const bool is_spatial = layout.size() == rank && layout[axis] != 'N' && layout[axis] != 'C';
      const std::int64_t width = is_spatial && spatial < axes ? padding[spatial++] : 0;
      widths.push_back(fmt::format("[{}, {}]", width, width));
    }
    data = fmt::format("nn.pad({}, 0.0, pad_width=[{}])", data, fmt::join(widths, ", "));
    padding = zeros;
    includes = false;
  }
  std::string factor;
  if (type == "sum") {
    if (is_full) call.unsupported("`pool_type=sum` with `pooling_convention=full`");
    std::int64_t count = 1;
    for (const std::int64_t extent : kernel) {
      if (__builtin_mul_overflow(count, extent, &count)) call.bad("its window has no such size");
    }
    factor = fmt::format(" * {}", text_of(static_cast<double>(count)));
    includes = padding != zeros;
  }
  call.result(fmt::format(
      "nn.{}_pool{}d({}, pool_size={}{}{}{}{}{}){}", type == "max" ? "max" : "avg", axes, data,
      text_of(kernel), option("strides", strides, Integers(axes, 1)),
      option("padding", padding, zeros), option("layout", layout, usual_layout(axes)),
      option("ceil_mode", is_full, false), option("count_include_pad", includes, false), factor));
}

void mx_adaptive_pooling(OperatorCall& call) {
  const Integers size = call.attributes.integers("output_size", {1});
  call.result(fmt::format("nn.adaptive_avg_pool2d({}, output_size={})", call.text(0),
                          size.size() == 1 ? text_of(Integers{size[0], size[0]}) : text_of(size)));
}

void mx_activation(OperatorCall& call) {
  const std::string type = call.attributes.text("act_type");
  const std::string& x = call.text(0);
  if (type == "relu") return call.result(fmt::format("nn.relu({})", x));
  if (type == "sigmoid" || type == "tanh") return call.result(fmt::format("{}({})", type, x));
  if (type == "softrelu") return call.result(fmt::format("nn.softplus({})", x));
  if (type == "softsign") return call.result(fmt::format("{} / (abs({}) + 1.0)", x, x));
  if (type == "log_sigmoid")
    return call.result(fmt::format("negative(nn.softplus(negative({})))", x));
  call.unsupported(fmt::format("`act_type={}`", type));
}

void mx_leaky_relu(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::string type = attributes.text("act_type", "leaky");
  const double slope = attributes.number("slope", 0.25);
  const double lower = attributes.number("lower_bound", 0.125);
  const double upper = attributes.number("upper_bound", 0.334);
  const std::string& x = call.text(0);
  if (type == "leaky" || type == "rrelu") {
    // In inference a random slope is the middle one.
    const double alpha = type == "leaky" ? slope : (lower + upper) / 2;
    return call.result(fmt::format("nn.leaky_relu({}, alpha={})", x, alpha));
  }
  if (type == "prelu") {
    const std::int64_t channels = call.extent(0, call.rank(0) > 1 ? 1 : 0);
    if (!call.is_known(1)) call.expect(1, {channels}, call.dtype(0));
    const bool is_shared = call.rank(1) == 1 && call.extent(1, 0) == 1;
    return call.result(is_shared
                           ? fmt::format("where({} > 0.0, {}, {} * {})", x, x, x, call.text(1))
                           : fmt::format("nn.prelu({}, {}{})", x, call.text(1),
                                         call.rank(0) == 1 ? ", axis=0" : ""));
  }
  // Without `minimum` what is not chosen overflows, and 0 times its derivative is no number.
  if (type == "elu" || type == "selu") {
    return call.result(fmt::format("where({} > 0.0, {}, expm1(minimum({}, 0.0)) * {}){}", x, x, x,
                                   type == "elu" ? text_of(slope) : "1.6732632423543772",
                                   type == "elu" ? "" : " * 1.0507009873554805"));
  }
  if (type == "gelu" || type == "gelu_erf") return call.result(fmt::format("nn.gelu({})", x));
  call.unsupported(fmt::format("`act_type={}`", type));
}

void mx_upsampling(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::int64_t scale = attributes.integer("scale");
  const std::string type = attributes.text("sample_type", "nearest");
  attributes.ignore({"multi_input_mode", "num_filter"});
  if (type == "nearest") {
    if (call.input_count() != 1) call.unsupported("more than one tensor to enlarge");
    return call.result(
        fmt::format("nn.upsampling({}, scale_h={}, scale_w={})", call.text(0), scale, scale));
  }
  if (type != "bilinear") call.unsupported(fmt::format("`sample_type={}`", type));
  // MXNet's own words for it: a transposed convolution of each channel, whose weight may learn.
  if (scale < 1 || scale > 1024) call.bad(fmt::format("`scale` is {}", scale));
  Window window;
  window.channels = window.groups = call.extent(0, 1);
  window.kernel.assign(2, 2 * scale - scale % 2);
  window.strides.assign(2, scale);
  window.padding.assign(2, scale / 2);  // of (scale - 1) / 2, rounded up
  window.dilation.assign(2, 1);
  window.output_padding.assign(2, 0);
  window.layout = "NCHW";
  window.kernel_layout = "IOHW";
  window.is_transposed = true;
  convolve(call, window);
}

void mx_embedding(OperatorCall& call) {
  const std::int64_t rows = call.attributes.integer("input_dim");
  const std::int64_t columns = call.attributes.integer("output_dim");
  call.attributes.ignore({"dtype", "sparse_grad"});
  if (!call.is_known(1)) call.expect(1, {rows, columns}, lang::DType::Float32);
  call.expect(1, {rows, columns}, call.dtype(1));
  call.result(fmt::format("take({}, {}, axis=0)", call.text(1), as_places(call, 0)));
}

void mx_softmax_output(OperatorCall& call) {
  // The labels, and what the gradient does with them, belong to training.
  const bool has_channels = call.attributes.flag("multi_output", false);
  const bool keeps_shape = call.attributes.flag("preserve_shape", false);
  const std::size_t rank = call.rank(0);
  const std::string& x = call.text(0);
  if (has_channels) return call.result(fmt::format("nn.softmax({}, axis=1)", x));
  if (keeps_shape || rank <= 2) return call.result(fmt::format("nn.softmax({})", x));
  call.result(fmt::format("reshape_like(nn.softmax(nn.batch_flatten({})), {})", x, x));
}

void mx_softmax_activation(OperatorCall& call) {
  const std::string mode = call.attributes.text("mode", "instance");
  if (mode == "channel") return call.result(fmt::format("nn.softmax({}, axis=1)", call.text(0)));
  if (mode != "instance") call.unsupported(fmt::format("`mode={}`", mode));
  call.result(call.rank(0) <= 2 ? fmt::format("nn.softmax({})", call.text(0))
                                : fmt::format("reshape_like(nn.softmax(nn.batch_flatten({})), {})",
                                              call.text(0), call.text(0)));
}

void mx_softmin(OperatorCall& call) {
  const std::int64_t axis = call.attributes.integer("axis", -1);
  const double temperature = call.attributes.number("temperature", 1);
  if (call.attributes.flag("use_length", false)) call.unsupported("`use_length`");
  call.result(fmt::format("nn.softmax({} / {}{})", call.text(0), text_of(-temperature),
                          option("axis", axis, std::int64_t{-1})));
}

void mx_output(OperatorCall& call) {
  if (call.word.empty()) return itself(call);
  call.result(fmt::format("{}({})", call.word, call.text(0)));
}

void mx_hard_sigmoid(OperatorCall& call) {
  call.result(fmt::format("clip({} * {} + {}, a_min=0.0, a_max=1.0)", call.text(0),
                          text_of(call.attributes.number("alpha", 0.2)),
                          text_of(call.attributes.number("beta", 0.5))));
}

void mx_smooth_l1(OperatorCall& call) {
  const double sigma = call.attributes.number("scalar", 1);
  const double square = sigma * sigma;
  const std::string& x = call.text(0);
  call.result(fmt::format("where(abs({}) < {}, {} * {} * {}, abs({}) - {})", x, text_of(1 / square),
                          x, x, text_of(square / 2), x, text_of(0.5 / square)));
}

}  // namespace relay::models::nnvm
