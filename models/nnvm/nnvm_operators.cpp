#include <algorithm>

#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/operators.h"

// The operators of NNVM, as they stood when TVM took it in and Relay replaced it.
namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

void dense(OperatorCall& call) {
  const std::int64_t units = call.attributes.integer("units");
  const bool has_bias = call.attributes.flag("use_bias", true);
  call.expect(1, {units, call.extent(0, call.rank(0) - 1)}, call.dtype(0));
  std::string text = fmt::format("nn.dense({}, {})", call.text(0), call.text(1));
  if (has_bias) {
    call.expect(2, {units}, call.dtype(0));
    text = biased(text, call.text(2), call.rank(0));
  }
  call.result(text);
}

Window window_of(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  Window window;
  window.kernel = attributes.integers("kernel_size");
  const Integers ones(window.kernel.size(), 1);
  const Integers zeros(window.kernel.size(), 0);
  window.strides = attributes.integers("strides", ones);
  window.padding = attributes.integers("padding", zeros);
  window.dilation = attributes.integers("dilation", ones);
  window.channels = attributes.integer("channels");
  window.groups = attributes.integer("groups", 1);
  window.layout = attributes.text("layout", "NCHW");
  window.kernel_layout = attributes.text("kernel_layout", "OIHW");
  window.has_bias = attributes.flag("use_bias", true);
  const std::string out = attributes.text("out_layout", "__undef__");
  if (out != "__undef__" && out != window.layout)
    call.unsupported(fmt::format("`out_layout` that differs from `layout`: `{}`", out));
  const std::string dtype = attributes.text("out_dtype", "same");
  if (dtype != "same" && dtype != "-1" && dtype != lang::name_of(call.dtype(0)))
    call.unsupported(fmt::format("`out_dtype={}`", dtype));
  return window;
}

void conv2d(OperatorCall& call) { convolve(call, window_of(call)); }

void conv2d_transpose(OperatorCall& call) {
  Window window = window_of(call);
  window.is_transposed = true;
  window.output_padding =
      call.attributes.integers("output_padding", Integers(window.kernel.size(), 0));
  // NNVM names a weight's axes after the convolution that this is the transpose of.
  for (char& letter : window.kernel_layout) {
    if (letter == 'O' || letter == 'I') letter = letter == 'O' ? 'I' : 'O';
  }
  convolve(call, window);
}

void batch_norm(OperatorCall& call) {
  const std::size_t rank = call.rank(0);
  const auto axis = call.axis(call.attributes.integer("axis", 1), rank);
  const std::int64_t channels = call.extent(0, static_cast<std::size_t>(axis));
  for (std::size_t i = 1; i < 5; ++i) call.expect(i, {channels}, call.dtype(0));
  call.attributes.ignore({"momentum"});
  call.result(fmt::format("nn.batch_norm({}{}{}{}{}).0", fmt::join(call.texts(), ", "),
                          option("axis", axis, std::int64_t{1}),
                          option("epsilon", call.attributes.number("epsilon", 1e-5), 1e-5),
                          option("center", call.attributes.flag("center", true), true),
                          option("scale", call.attributes.flag("scale", true), true)));
}

void pool2d(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const Integers size = attributes.integers("pool_size");
  call.result(
      fmt::format("{}({}, pool_size={}{}{}{}{}{})", call.word, call.text(0), text_of(size),
                  option("strides", attributes.integers("strides", {1, 1}), Integers{1, 1}),
                  option("padding", attributes.integers("padding", {0, 0}), Integers{0, 0}),
                  option("layout", attributes.text("layout", "NCHW"), "NCHW"),
                  option("ceil_mode", attributes.flag("ceil_mode", false), false),
                  option("count_include_pad", attributes.flag("count_include_pad", false), false)));
}

void global_pool2d(OperatorCall& call) {
  call.result(fmt::format("{}({}{})", call.word, call.text(0),
                          option("layout", call.attributes.text("layout", "NCHW"), "NCHW")));
}

void upsampling(OperatorCall& call) {
  const std::int64_t scale = call.attributes.integer("scale");
  const std::string method = call.attributes.text("method", "NEAREST_NEIGHBOR");
  if (method != "NEAREST_NEIGHBOR" && method != "BILINEAR")
    call.unsupported(fmt::format("`method={}`", method));
  call.result(fmt::format("nn.upsampling({}, scale_h={}, scale_w={}{}{})", call.text(0), scale,
                          scale, option("layout", call.attributes.text("layout", "NCHW"), "NCHW"),
                          method == "BILINEAR" ? ", method=\"bilinear\"" : ""));
}

void pad(OperatorCall& call) {
  const Integers flat = call.attributes.nested_integers("pad_width");
  if (flat.size() != 2 * call.rank(0))
    call.bad(fmt::format("`pad_width` has {} numbers for {} axes", flat.size(), call.rank(0)));
  std::vector<std::string> widths;
  for (std::size_t axis = 0; axis < call.rank(0); ++axis)
    widths.push_back(fmt::format("[{}, {}]", flat[2 * axis], flat[2 * axis + 1]));
  call.result(fmt::format("nn.pad({}, {}, pad_width=[{}])", call.text(0),
                          text_of(call.attributes.number("pad_value", 0)),
                          fmt::join(widths, ", ")));
}

void leaky_relu(OperatorCall& call) {
  call.result(fmt::format("nn.leaky_relu({}, alpha={})", call.text(0),
                          call.attributes.number("alpha", 0.25)));
}

void prelu(OperatorCall& call) {
  const auto axis = call.axis(call.attributes.integer("axis", 1), call.rank(0));
  call.expect(1, {call.extent(0, static_cast<std::size_t>(axis))}, call.dtype(0));
  call.result(fmt::format("nn.prelu({}, {}{})", call.text(0), call.text(1),
                          option("axis", axis, std::int64_t{1})));
}

void lrn(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  call.result(fmt::format("nn.lrn({}, size={}, axis={}, bias={}, alpha={}, beta={})", call.text(0),
                          attributes.integer("size"), attributes.integer("axis"),
                          attributes.number("bias"), attributes.number("alpha"),
                          attributes.number("beta")));
}

void l2_normalize(OperatorCall& call) {
  call.result(fmt::format("nn.l2_normalize({}, eps={}, axis={})", call.text(0),
                          call.attributes.number("eps"),
                          text_of(call.attributes.integers("axis"))));
}

void layout_transform(OperatorCall& call) {
  call.result(fmt::format("layout_transform({}, src_layout={}, dst_layout={})", call.text(0),
                          string_literal(call.attributes.text("src_layout")),
                          string_literal(call.attributes.text("dst_layout"))));
}

void concatenate(OperatorCall& call) {
  call.result(fmt::format("concatenate({}, axis={})", tuple_text(call.texts()),
                          call.attributes.integer("axis", 1)));
}

void split(OperatorCall& call) {
  const std::string given = call.attributes.text("indices_or_sections");
  const Integers places = call.attributes.integers("indices_or_sections");
  const bool is_count = !given.starts_with('(') && !given.starts_with('[');
  const std::string parts =
      call.let("", fmt::format("split({}, indices_or_sections={}, axis={})", call.text(0),
                               is_count ? fmt::format("{}", places.front()) : text_of(places),
                               call.attributes.integer("axis", 1)));
  const std::size_t count = is_count ? static_cast<std::size_t>(places.front()) : places.size() + 1;
  for (std::size_t i = 0; i < count; ++i) call.same(fmt::format("{}.{}", parts, i));
}

void take(OperatorCall& call) {
  const std::string axis = call.attributes.has("axis")
                               ? fmt::format(", axis={}", call.attributes.integer("axis"))
                               : std::string();
  call.result(fmt::format("take({}, {}{})", call.text(0), as_places(call, 1), axis));
}

void gather_nd(OperatorCall& call) {
  call.result(fmt::format("gather_nd({}, {})", call.text(0), as_places(call, 1)));
}

void slice_like(OperatorCall& call) {
  call.result(fmt::format("slice_like({}, {}{})", call.text(0), call.text(1),
                          option("axes", call.attributes.integers("axis", {}), Integers())));
}

void strided_slice(OperatorCall& call) {
  const Integers stride = call.attributes.integers("stride", {});
  call.result(fmt::format("strided_slice({}, begin={}, end={}{})", call.text(0),
                          text_of(call.attributes.integers("begin")),
                          text_of(call.attributes.integers("end")),
                          option("strides", stride, Integers())));
}

void flip(OperatorCall& call) {
  call.result(
      fmt::format("reverse({}, axis={})", call.text(0), call.attributes.integer("axis", 0)));
}

void full(OperatorCall& call) {
  const lang::DType dtype = call.attributes.dtype("dtype", lang::DType::Float32);
  const std::string text =
      fmt::format("full({}, shape={})", text_of(call.attributes.number("fill_value")),
                  text_of(call.attributes.integers("shape")));
  call.result(dtype == lang::DType::Float32
                  ? text
                  : fmt::format("cast({}, dtype=\"{}\")", text, lang::name_of(dtype)));
}

void matmul(OperatorCall& call) {
  if (call.rank(0) != 2 || call.rank(1) != 2)
    call.unsupported(fmt::format("of ranks {} and {}", call.rank(0), call.rank(1)));
  call.result(
      fmt::format("nn.matmul({}, {}{}{})", call.text(0), call.text(1),
                  option("transpose_a", call.attributes.flag("transpose_a", false), false),
                  option("transpose_b", call.attributes.flag("transpose_b", false), false)));
}

void arg_reduce(OperatorCall& call) {
  if (call.attributes.dtype("dtype", lang::DType::Int32) != lang::DType::Int32)
    call.unsupported("positions of another dtype than int32");
  reduce(call);
}

// The first tensor with the axes that it lacks, stretched to the shape of the second.
void expand_like(OperatorCall& call) {
  const std::size_t rank = call.rank(1);
  Integers axes = call.attributes.integers("axis", {});
  for (std::int64_t& axis : axes) axis = call.axis(axis, rank);
  if (call.attributes.flag("exclude", false)) {
    Integers others;
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
    }
    axes = std::move(others);
  }
  std::sort(axes.begin(), axes.end());
  std::string text = call.text(0);
  if (call.rank(0) != rank) {
    for (const std::int64_t axis : axes) text = fmt::format("expand_dims({}, axis={})", text, axis);
  }
  call.result(fmt::format("broadcast_to_like({}, {})", text, call.text(1)));
}

constexpr Operator kNnvmOperators[] = {
    // layers
    {"dense", dense, "`nn.dense`, `nn.bias_add`"},
    {"conv2d", conv2d, "`nn.conv2d`, `nn.bias_add`; layouts of single letters"},
    {"conv2d_transpose", conv2d_transpose, "`nn.conv2d_transpose`, `nn.bias_add`"},
    {"batch_norm", batch_norm, "`nn.batch_norm`, with the moving mean and variance"},
    {"max_pool2d", pool2d, "`nn.max_pool2d`", "nn.max_pool2d"},
    {"avg_pool2d", pool2d, "`nn.avg_pool2d`", "nn.avg_pool2d"},
    {"global_max_pool2d", global_pool2d, "`nn.global_max_pool2d`", "nn.global_max_pool2d"},
    {"global_avg_pool2d", global_pool2d, "`nn.global_avg_pool2d`", "nn.global_avg_pool2d"},
    {"upsampling", upsampling, "`nn.upsampling`"},
    {"dropout", dropout, "its data: nothing is dropped"},
    {"softmax", softmax, "`nn.softmax`", "nn.softmax"},
    {"log_softmax", softmax, "`nn.log_softmax`", "nn.log_softmax"},
    {"leaky_relu", leaky_relu, "`nn.leaky_relu`"},
    {"prelu", prelu, "`nn.prelu`"},
    {"pad", pad, "`nn.pad`"},
    {"lrn", lrn, "`nn.lrn`"},
    {"l2_normalize", l2_normalize, "`nn.l2_normalize`"},
    {"flatten", batch_flatten, "`nn.batch_flatten`"},
    {"__layout_transform__", layout_transform, "`layout_transform`"},
    // elements
    {"relu", broadcast, "", "nn.relu({0})"},
    {"sigmoid", broadcast, "", "sigmoid({0})"},
    {"tanh", broadcast, "", "tanh({0})"},
    {"exp", broadcast, "", "exp({0})"},
    {"log", broadcast, "", "log({0})"},
    {"sqrt", broadcast, "", "sqrt({0})"},
    {"floor", broadcast, "", "floor({0})"},
    {"ceil", broadcast, "", "ceil({0})"},
    {"trunc", broadcast, "", "trunc({0})"},
    {"round", broadcast, "", "round({0})"},
    {"abs", broadcast, "", "abs({0})"},
    {"negative", broadcast, "", "negative({0})"},
    {"logical_not", broadcast, "", "cast({0} == 0.0, dtype={dtype})"},
    {"copy", itself, "its data"},
    {"block_grad", broadcast, "", "stop_gradient({0})"},
    {"cast", cast, "`cast`"},
    {"clip", clip, "`clip`"},
    {"elemwise_add", elementwise, "", "{0} + {1}"},
    {"elemwise_sub", elementwise, "", "{0} - {1}"},
    {"elemwise_mul", elementwise, "", "{0} * {1}"},
    {"elemwise_div", elementwise, "", "{0} / {1}"},
    {"elemwise_mod", elementwise, "", "mod({0}, {1})"},
    {"elemwise_pow", elementwise, "", "power({0}, {1})"},
    {"elemwise_sum", add_all, "the sum of all with `+`"},
    {"logical_and", elementwise, "", "cast(logical_and({0} != 0.0, {1} != 0.0), dtype={dtype})"},
    {"logical_or", elementwise, "", "cast(logical_or({0} != 0.0, {1} != 0.0), dtype={dtype})"},
    {"greater", elementwise, "", "cast({0} > {1}, dtype={dtype})"},
    {"less", elementwise, "", "cast({0} < {1}, dtype={dtype})"},
    {"broadcast_add", broadcast, "", "{0} + {1}"},
    {"__add_symbol__", broadcast, "", "{0} + {1}"},
    {"broadcast_sub", broadcast, "", "{0} - {1}"},
    {"__sub_symbol__", broadcast, "", "{0} - {1}"},
    {"broadcast_mul", broadcast, "", "{0} * {1}"},
    {"__mul_symbol__", broadcast, "", "{0} * {1}"},
    {"broadcast_div", broadcast, "", "{0} / {1}"},
    {"__div_symbol__", broadcast, "", "{0} / {1}"},
    {"broadcast_mod", broadcast, "", "mod({0}, {1})"},
    {"__mod_symbol__", broadcast, "", "mod({0}, {1})"},
    {"broadcast_max", broadcast, "", "maximum({0}, {1})"},
    {"__max_symbol__", broadcast, "", "maximum({0}, {1})"},
    {"broadcast_min", broadcast, "", "minimum({0}, {1})"},
    {"__min_symbol__", broadcast, "", "minimum({0}, {1})"},
    {"broadcast_pow", broadcast, "", "power({0}, {1})"},
    {"__pow_symbol__", broadcast, "", "power({0}, {1})"},
    {"broadcast_left_shift", broadcast, "", "left_shift({0}, {1})"},
    {"__left_shift_symbol__", broadcast, "", "left_shift({0}, {1})"},
    {"broadcast_right_shift", broadcast, "", "right_shift({0}, {1})"},
    {"__right_shift_symbol__", broadcast, "", "right_shift({0}, {1})"},
    {"broadcast_greater", broadcast, "", "cast({0} > {1}, dtype={dtype})"},
    {"__greater_symbol__", broadcast, "", "cast({0} > {1}, dtype={dtype})"},
    {"broadcast_less", broadcast, "", "cast({0} < {1}, dtype={dtype})"},
    {"__less_symbol__", broadcast, "", "cast({0} < {1}, dtype={dtype})"},
    {"broadcast_equal", broadcast, "", "cast({0} == {1}, dtype={dtype})"},
    {"__equal_symbol__", broadcast, "", "cast({0} == {1}, dtype={dtype})"},
    {"broadcast_not_equal", broadcast, "", "cast({0} != {1}, dtype={dtype})"},
    {"__not_equal_symbol__", broadcast, "", "cast({0} != {1}, dtype={dtype})"},
    {"broadcast_greater_equal", broadcast, "", "cast({0} >= {1}, dtype={dtype})"},
    {"__greater_equal_symbol__", broadcast, "", "cast({0} >= {1}, dtype={dtype})"},
    {"broadcast_less_equal", broadcast, "", "cast({0} <= {1}, dtype={dtype})"},
    {"__less_equal_symbol__", broadcast, "", "cast({0} <= {1}, dtype={dtype})"},
    {"__add_scalar__", broadcast, "", "{0} + {s}"},
    {"__sub_scalar__", broadcast, "", "{0} - {s}"},
    {"__rsub_scalar__", broadcast, "", "{s} - {0}"},
    {"__mul_scalar__", broadcast, "", "{0} * {s}"},
    {"__div_scalar__", broadcast, "", "{0} / {s}"},
    {"__rdiv_scalar__", broadcast, "", "{s} / {0}"},
    {"__pow_scalar__", broadcast, "", "power({0}, {s})"},
    {"__rpow_scalar__", broadcast, "", "power({s}, {0})"},
    {"__lshift_scalar__", broadcast, "", "left_shift({0}, {s})"},
    {"__rshift_scalar__", broadcast, "", "right_shift({0}, {s})"},
    // shapes and places
    {"reshape", reshape, "`reshape`, with the codes 0, -1, -2, -3 and -4"},
    {"reshape_like", broadcast, "", "reshape_like({0}, {1})"},
    {"transpose", transpose, "`transpose`"},
    {"expand_dims", expand_dims, "`expand_dims`"},
    {"expand_like", expand_like, "`expand_dims`, `broadcast_to_like`"},
    {"squeeze", squeeze, "`squeeze`"},
    {"concatenate", concatenate, "`concatenate`"},
    {"split", split, "`split`"},
    {"take", take, "`take`"},
    {"gather_nd", gather_nd, "`gather_nd`"},
    {"slice_like", slice_like, "`slice_like`"},
    {"strided_slice", strided_slice, "`strided_slice`"},
    {"flip", flip, "`reverse`"},
    {"where", broadcast, "", "where({0}, {1}, {2})"},
    {"broadcast_to", broadcast_to, "`broadcast_to`"},
    {"collapse_sum", broadcast, "", "collapse_sum_like({0}, {1})"},
    // new tensors
    {"full", full, "`full`"},
    {"zeros", filled, "`zeros`", "zeros"},
    {"ones", filled, "`ones`", "ones"},
    {"full_like", scalar_like, "`full_like`"},
    {"zeros_like", broadcast, "", "zeros_like({0})"},
    {"ones_like", broadcast, "", "ones_like({0})"},
    // sums
    {"sum", reduce, "`sum`", "sum"},
    {"mean", reduce, "`mean`", "mean"},
    {"prod", reduce, "`prod`", "prod"},
    {"max", reduce, "`max`", "max"},
    {"min", reduce, "`min`", "min"},
    {"argmax", arg_reduce, "`argmax`", "argmax"},
    {"argmin", arg_reduce, "`argmin`", "argmin"},
    {"matmul", matmul, "`nn.matmul`, of matrices"},
};

}  // namespace

const Dialect& nnvm_dialect() {
  static const Dialect dialect{"NNVM", kNnvmOperators};
  return dialect;
}

}  // namespace relay::models::nnvm
