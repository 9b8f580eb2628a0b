#include "models/nnvm/common_operators.h"

#include <algorithm>
#include <cmath>

#include <fmt/args.h>
#include <fmt/ranges.h>

namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

std::string dtype_text(lang::DType dtype) { return fmt::format("\"{}\"", lang::name_of(dtype)); }

std::string scalar_text(OperatorCall& call) {
  const double scalar = call.attributes.number("scalar");
  if (lang::is_float(call.dtype(0))) return text_of(scalar);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::floor(scalar) != scalar || std::abs(scalar) > kExact) {
    call.unsupported(
        fmt::format("the scalar {} with a tensor of {}", scalar, lang::name_of(call.dtype(0))));
  }
  const std::string text = fmt::format("{}", static_cast<std::int64_t>(scalar));
  return scalar < 0 ? "(" + text + ")" : text;
}

void apply_word(OperatorCall& call) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const std::string& each : call.texts()) arguments.push_back(each);
  if (call.word.find("{s}") != std::string_view::npos)
    arguments.push_back(fmt::arg("s", scalar_text(call)));
  if (call.word.find("{dtype}") != std::string_view::npos)
    arguments.push_back(fmt::arg("dtype", dtype_text(call.dtype(0))));
  call.result(fmt::vformat(call.word, arguments));
}

void expect_inputs(OperatorCall& call) {
  std::size_t inputs = 1;
  for (const char digit : {'1', '2'})
    inputs += call.word.find(fmt::format("{{{}}}", digit)) != std::string_view::npos;
  if (call.input_count() != inputs)
    call.bad(fmt::format("it has {} inputs, and {} are due", call.input_count(), inputs));
}

}  // namespace

void broadcast(OperatorCall& call) {
  expect_inputs(call);
  apply_word(call);
}

void elementwise(OperatorCall& call) {
  expect_inputs(call);
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    call.expect_like(i, 0);
    call.expect_like(0, i);
  }
  apply_word(call);
}

void add_all(OperatorCall& call) {
  for (std::size_t i = 1; i < call.input_count(); ++i) call.expect_like(i, 0);
  if (call.input_count() == 1) return itself(call);
  call.result(fmt::format("{}", fmt::join(call.texts(), " + ")));
}

void itself(OperatorCall& call) { call.same(call.text(0)); }

void reduce(OperatorCall& call) {
  const std::size_t rank = call.rank(0);
  Integers axes = call.attributes.integers("axis", {});
  const bool keeps = call.attributes.flag("keepdims", false);
  bool excludes = call.attributes.flag("exclude", false) && !axes.empty();
  for (std::int64_t& axis : axes) axis = call.axis(axis, rank);
  const bool is_all = axes.empty() || (excludes ? axes.empty() : axes.size() == rank);
  if (is_all) axes.clear();
  if (excludes && axes.size() == rank) return itself(call);
  const std::string text =
      fmt::format("{}({}{}{}{})", call.word, call.text(0), option("axis", axes, Integers()),
                  option("keepdims", keeps, false), option("exclude", excludes, false));
  result_of_rank(call, text);
}

void result_of_rank(OperatorCall& call, const std::string& expression) {
  const lang::Type type = call.type_of(expression);
  const auto* tensor = lang::as<lang::TensorType>(type);
  const bool is_scalar = tensor && tensor->shape.has_rank() && tensor->shape.rank() == 0;
  call.result(is_scalar ? fmt::format("expand_dims({}, axis=0)", expression) : expression);
}

void reshape(OperatorCall& call) {
  Integers shape = call.attributes.integers("shape", {});
  const bool is_reverse = call.attributes.flag("reverse", false);
  const bool keeps_highest = call.attributes.flag("keep_highest", false);
  if (const Integers target = call.attributes.integers("target_shape", {});
      shape.empty() && !target.empty()) {
    // What MXNet had first: one 0 is what remains.
    shape = target;
    std::replace(shape.begin(), shape.end(), std::int64_t{0}, std::int64_t{-1});
    if (keeps_highest) shape.front() = 0;
  }
  if (shape.empty()) call.bad("there is no attribute `shape`");
  call.result(fmt::format("{}({}, newshape={})", is_reverse ? "contrib_reverse_reshape" : "reshape",
                          call.text(0), text_of(shape)));
}

void transpose(OperatorCall& call) {
  const Integers axes = call.attributes.integers("axes", {});
  call.result(fmt::format("transpose({}{})", call.text(0), option("axes", axes, Integers())));
}

void expand_dims(OperatorCall& call) {
  call.result(fmt::format(
      "expand_dims({}, axis={}{})", call.text(0), call.attributes.integer("axis"),
      option("num_newaxis", call.attributes.integer("num_newaxis", 1), std::int64_t{1})));
}

void squeeze(OperatorCall& call) {
  const Integers axes = call.attributes.integers("axis", {});
  result_of_rank(call,
                 fmt::format("squeeze({}{})", call.text(0), option("axis", axes, Integers())));
}

void cast(OperatorCall& call) {
  const lang::DType dtype = call.attributes.dtype("dtype");
  if (dtype == call.dtype(0)) return itself(call);
  call.result(fmt::format("cast({}, dtype={})", call.text(0), dtype_text(dtype)));
}

void clip(OperatorCall& call) {
  call.result(fmt::format("clip({}, a_min={}, a_max={})", call.text(0),
                          call.attributes.number("a_min"), call.attributes.number("a_max")));
}

void broadcast_to(OperatorCall& call) {
  std::vector<std::string> extents;
  const Integers shape = call.attributes.integers("shape");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    extents.push_back(shape[axis] == 0 ? extent_text(call, 0, axis)
                                       : fmt::format("{}", shape[axis]));
  }
  call.result(fmt::format("broadcast_to({}, shape=[{}])", call.text(0), fmt::join(extents, ", ")));
}

void dropout(OperatorCall& call) {
  call.attributes.ignore({"rate", "p", "axes"});
  if (call.attributes.text("mode", "training") != "training")
    call.unsupported("dropout with `mode=always`, which drops in inference too");
  itself(call);
}

void batch_flatten(OperatorCall& call) {
  call.result(fmt::format("nn.batch_flatten({})", call.text(0)));
}

void softmax(OperatorCall& call) {
  const std::int64_t axis = call.attributes.integer("axis", -1);
  const double temperature = call.attributes.number("temperature", 1);
  const bool has_length = call.attributes.flag("use_length", false);
  if (has_length) call.unsupported("`use_length`");
  std::string data = call.text(0);
  if (temperature != 1) data = fmt::format("{} / {}", data, text_of(temperature));
  std::string text =
      fmt::format("{}({}{})", call.word, data, option("axis", axis, std::int64_t{-1}));
  const lang::DType dtype = call.attributes.dtype("dtype", call.dtype(0));
  if (dtype != call.dtype(0)) text = fmt::format("cast({}, dtype={})", text, dtype_text(dtype));
  call.result(text);
}

void filled(OperatorCall& call) {
  call.result(fmt::format("{}(shape={}, dtype={})", call.word,
                          text_of(call.attributes.integers("shape")),
                          dtype_text(call.attributes.dtype("dtype", lang::DType::Float32))));
}

void scalar_like(OperatorCall& call) {
  call.result(fmt::format("full_like({}, {})", call.text(0),
                          text_of(call.attributes.number("fill_value"))));
}

void convolve(OperatorCall& call, const Window& window) {
  const std::size_t axes = window.kernel.size();
  if (axes < 1 || axes > 3) call.unsupported(fmt::format("a window over {} axes", axes));
  if (call.rank(0) != axes + 2)
    call.bad(fmt::format("its data has rank {}, and a window over {} axes", call.rank(0), axes));
  const std::string& layout = window.layout;
  const std::size_t channel_axis = layout.find('C');
  const std::string_view letters = std::string_view("DHW").substr(3 - axes);
  const auto is_layout = [&](std::string_view text, std::string_view two) {
    std::string sorted(text);
    std::string wanted = std::string(two) + std::string(letters);
    std::sort(sorted.begin(), sorted.end());
    std::sort(wanted.begin(), wanted.end());
    return sorted == wanted;
  };
  if (!is_layout(layout, "NC") || !is_layout(window.kernel_layout, "OI"))
    call.unsupported(fmt::format("the layouts `{}` and `{}`", layout, window.kernel_layout));
  const std::int64_t inputs = call.extent(0, channel_axis);
  if (window.groups < 1 || window.channels < 1 || inputs % window.groups != 0 ||
      window.channels % window.groups != 0) {
    call.bad(
        fmt::format("{} channels become {} in {} groups", inputs, window.channels, window.groups));
  }
  Integers weight;
  for (const char letter : window.kernel_layout) {
    if (letter == 'O') {
      weight.push_back(window.is_transposed ? window.channels / window.groups : window.channels);
    } else if (letter == 'I') {
      weight.push_back(window.is_transposed ? inputs : inputs / window.groups);
    } else {
      weight.push_back(window.kernel[letters.find(letter)]);
    }
  }
  call.expect(1, weight, call.dtype(0));
  const Integers ones(axes, 1);
  const Integers zeros(axes, 0);
  const std::string spatial(letters);
  std::string text = fmt::format(
      "nn.conv{}d{}({}, {}{}{}{}{}{}{}{})", axes, window.is_transposed ? "_transpose" : "",
      call.text(0), call.text(1), option("strides", window.strides, ones),
      option("padding", window.padding, zeros),
      option("output_padding", window.output_padding, window.is_transposed ? zeros : Integers()),
      option("dilation", window.dilation, ones), option("groups", window.groups, std::int64_t{1}),
      option("data_layout", layout, "NC" + spatial),
      option("kernel_layout", window.kernel_layout,
             (window.is_transposed ? "IO" : "OI") + spatial));
  if (window.has_bias) {
    call.expect(2, {window.channels}, call.dtype(0));
    text = fmt::format("nn.bias_add({}, {}{})", text, call.text(2),
                       option("axis", static_cast<std::int64_t>(channel_axis), std::int64_t{1}));
  }
  call.result(text);
}

std::string biased(const std::string& expression, const std::string& bias, std::size_t rank) {
  return fmt::format("nn.bias_add({}, {}{})", expression, bias, rank == 2 ? "" : ", axis=-1");
}

std::string as_places(OperatorCall& call, std::size_t input) {
  return lang::is_float(call.dtype(input))
             ? fmt::format("cast({}, dtype=\"int32\")", call.text(input))
             : call.text(input);
}

std::string extent_text(OperatorCall& call, std::size_t input, std::size_t axis) {
  const lang::Shape& shape = call.tensor(input).shape;
  if (axis >= shape.rank())
    call.bad(fmt::format("input {} has {} axes, and axis {} is due", input, shape.rank(), axis));
  return shape[axis].to_string();
}

std::string tuple_text(const std::vector<std::string>& texts) {
  return fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : "");
}

}  // namespace relay::models::nnvm
