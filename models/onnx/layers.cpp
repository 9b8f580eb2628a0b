// Layers of networks, products and losses.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/onnx/operators.h"
#include "models/onnx/windows.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;

constexpr std::int64_t kMostPadding = 1 << 24;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 36;  // that strides are multiplied with

std::string biased(const Call& call, const std::string& text, std::size_t bias) {
  return call.has(bias) ? fmt::format("nn.bias_add({}, {})", text, call.text(bias)) : text;
}

void convolution(Call& call) {
  const std::size_t axes = spatial_axes(call, 0);
  const std::vector<std::int64_t> kernel = kernel_of(call, 1);
  const Windows windows = windows_of(call, 0, kernel);
  const std::int64_t group = call.integer("group", 1);
  std::vector<Dim> extents = {call.in(0).dims()[0], call.in(1).dims()[0]};
  for (std::size_t k = 0; k < axes; ++k)
    extents.push_back(windows.left(call.in(0).dims()[k + 2], k, kernel[k]));
  call.give(
      biased(call,
             fmt::format("nn.conv{}d({}, {}{}{})", axes, call.text(0), call.text(1),
                         windows.attributes(), group == 1 ? "" : fmt::format(", groups={}", group)),
             2),
      std::move(extents));
}

void transposed_convolution(Call& call) {
  const std::size_t axes = spatial_axes(call, 0);
  const std::vector<std::int64_t> kernel = kernel_of(call, 1);
  const auto shape = call.integers("output_shape");
  auto extra = call.integers("output_padding").value_or(std::vector<std::int64_t>(axes, 0));
  Windows windows = windows_of(
      call, 0, kernel, shape.has_value() || call.string("auto_pad", "NOTSET").starts_with("SAME"));
  if (extra.size() != axes) call.bad("`output_padding` has not an element for each axis");
  if (shape && shape->size() < axes) call.bad("`output_shape` has not an element for each axis");
  for (const std::int64_t each : extra) {
    if (each < 0 || each > kMostPadding)
      call.bad(fmt::format("`output_padding` has the element {}", each));
  }
  const std::string automatic = call.string("auto_pad", "NOTSET");
  if (shape || automatic.starts_with("SAME")) {
    for (std::size_t k = 0; k < axes; ++k) {
      const std::int64_t in = call.extent(0, k + 2);
      if (in > kMostExtent)
        call.bad(fmt::format("axis {} of its data has the extent {}", k + 2, in));
      const std::int64_t out = shape ? (*shape)[shape->size() - axes + k] : in * windows.strides[k];
      const std::int64_t whole =
          (in - 1) * windows.strides[k] + extra[k] + (kernel[k] - 1) * windows.dilations[k] + 1;
      const std::int64_t pads = std::max<std::int64_t>(0, whole - out);
      if (out > whole) extra[k] += out - whole;
      const std::int64_t half = pads / 2;
      windows.pads[k] = automatic == "SAME_UPPER" ? half : pads - half;
      windows.pads[k + axes] = pads - windows.pads[k];
    }
  }
  std::string rest = windows.attributes();
  if (std::any_of(extra.begin(), extra.end(), [](std::int64_t v) { return v != 0; }))
    rest += fmt::format(", output_padding={}", list_text(extra));
  const std::int64_t group = call.integer("group", 1);
  if (group != 1) rest += fmt::format(", groups={}", group);
  std::vector<Dim> extents = {call.in(0).dims()[0], call.in(1).dims()[1] * Dim(group)};
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t span = (kernel[k] - 1) * windows.dilations[k] + 1;
    extents.push_back((call.in(0).dims()[k + 2] - Dim(1)) * Dim(windows.strides[k]) +
                      Dim(span + extra[k] - windows.pads[k] - windows.pads[k + axes]));
  }
  call.give(
      biased(call,
             fmt::format("nn.conv{}d_transpose({}, {}{})", axes, call.text(0), call.text(1), rest),
             2),
      std::move(extents));
}

void pool(Call& call) {
  const std::size_t axes = spatial_axes(call, 0);
  const auto kernel = call.integers("kernel_shape");
  if (!kernel || kernel->size() != axes)
    call.bad("`kernel_shape` has not an element for each axis");
  if (call.wants(1)) call.unsupported("the places of the largest elements (output 1)");
  Windows windows = windows_of(call, 0, *kernel);
  const bool overhangs = call.integer("ceil_mode", 0) != 0 &&
                         !(call.node.op == "MaxPool" && windows.pad_overhangs(call, *kernel));
  std::string rest = fmt::format(", pool_size={}", list_text(*kernel)) + windows.attributes();
  // What cuts off the windows that hold nothing of the data.
  std::string cut;
  if (overhangs) {
    const Windows::Overhangs found = windows.overhangs(call, *kernel);
    if (found.are_some_full || found.empty.empty()) {
      rest += ", ceil_mode=True";
      cut = found.cut();
    }
  }
  const auto cut_to_data = [&](const std::string& text) {
    return cut.empty() ? text : fmt::format("strided_slice({}, {})", text, cut);
  };
  const std::string& op = call.node.op;
  if (op == "MaxPool")
    return call.give(cut_to_data(fmt::format("nn.max_pool{}d({}{})", axes, call.text(0), rest)));
  if (op == "AveragePool") {
    if (call.integer("count_include_pad", 0) != 0) rest += ", count_include_pad=True";
    return call.give(cut_to_data(fmt::format("nn.avg_pool{}d({}{})", axes, call.text(0), rest)));
  }
  // The root of the sum of powers: the sum is the mean times the number of elements.
  std::int64_t count = 1;
  for (const std::int64_t each : *kernel) {
    if (__builtin_mul_overflow(count, each, &count)) call.bad("its window has no such size");
  }
  const std::int64_t p = call.integer("p", 2);
  const std::string x = call.text(0);
  const std::string powers =
      p == 1   ? fmt::format("abs({})", x)
      : p == 2 ? fmt::format("square({})", x)
               : fmt::format("power(abs({}), {})", x, call.like(0, static_cast<double>(p)));
  const std::string sum = fmt::format(
      "{} * {}",
      cut_to_data(fmt::format("nn.avg_pool{}d({}{}, count_include_pad=True)", axes, powers, rest)),
      call.like(0, static_cast<double>(count)));
  call.give(p == 1 ? sum
            : p == 2
                ? fmt::format("sqrt({})", sum)
                : fmt::format("power({}, {})", sum, call.like(0, 1.0 / static_cast<double>(p))));
}

void global_pool(Call& call) {
  const std::size_t rank = call.rank(0);
  if (rank < 3) call.bad("there are no axes behind the channels");
  std::vector<std::int64_t> axes;
  for (std::size_t k = 2; k < rank; ++k) axes.push_back(static_cast<std::int64_t>(k));
  const std::string& op = call.node.op;
  const std::string x = call.text(0);
  const std::string rest = fmt::format(", axis={}, keepdims=True", list_text(axes));
  if (op == "GlobalAveragePool")
    return call.give(rank == 4 ? fmt::format("nn.global_avg_pool2d({})", x)
                               : fmt::format("mean({}{})", x, rest));
  if (op == "GlobalMaxPool")
    return call.give(rank == 4 ? fmt::format("nn.global_max_pool2d({})", x)
                               : fmt::format("max({}{})", x, rest));
  const double p = static_cast<double>(call.integer("p", 2));
  call.give(fmt::format("power(sum(power(abs({}), {}){}), {})", x, call.like(0, p), rest,
                        call.like(0, 1 / p)));
}

std::string epsilon(const Call& call) {
  return literal(call.number("epsilon", 1e-5F), DType::Float32);
}

// By the mean and the variance of the batch, which also move those that are kept.
void trained_batch_norm(Call& call) {
  std::vector<std::int64_t> axes = {0};
  for (std::size_t k = 2; k < call.rank(0); ++k) axes.push_back(static_cast<std::int64_t>(k));
  const std::string list = list_text(axes);
  const std::string x = call.text(0);
  const Value mean = call.let("batch_mean", fmt::format("mean({}, axis={})", x, list));
  const Value spread =
      call.let("batch_variance",
               fmt::format("variance({0}, mean({0}, axis={1}, keepdims=True), axis={1})", x, list));
  call.give(fmt::format("nn.batch_norm({}, {}, {}, {}, {}, epsilon={}).0", x, call.text(1),
                        call.text(2), mean.text, spread.text, epsilon(call)));
  const double momentum = call.number("momentum", 0.9F);
  const auto moved = [&](std::size_t k, const Value& now) {
    return fmt::format("{} * {} + {} * {}", call.like(0, momentum), call.text(k),
                       call.like(0, 1 - momentum), now.text);
  };
  if (call.wants(1)) call.give(moved(3, mean));
  if (call.wants(2)) call.give(moved(4, spread));
}

void batch_norm(Call& call) {
  if (call.integer("training_mode", 0) != 0) return trained_batch_norm(call);
  call.give(fmt::format("nn.batch_norm({}, {}, {}, {}, {}, epsilon={}).0", call.text(0),
                        call.text(1), call.text(2), call.text(3), call.text(4), epsilon(call)));
}

void instance_norm(Call& call) {
  call.give(fmt::format("nn.instance_norm({}, {}, {}, epsilon={})", call.text(0), call.text(1),
                        call.text(2), epsilon(call)));
}

void layer_norm(Call& call) {
  const std::size_t rank = call.rank(0);
  const std::size_t axis = call.axis(call.integer("axis", -1), rank);
  if (axis + 1 == rank && !call.wants(1) && !call.wants(2) && call.has(2))
    return call.give(fmt::format("nn.layer_norm({}, {}, {}, axis=-1, epsilon={})", call.text(0),
                                 call.text(1), call.text(2), epsilon(call)));
  std::vector<std::int64_t> axes;
  for (std::size_t k = axis; k < rank; ++k) axes.push_back(static_cast<std::int64_t>(k));
  const std::string list = list_text(axes);
  const std::string x = call.text(0);
  const Value mean = call.let("mean_", fmt::format("mean({}, axis={}, keepdims=True)", x, list));
  const Value centred = call.let("centred", fmt::format("{} - {}", x, mean.text));
  const Value factor =
      call.let("inverse_deviation",
               fmt::format("rsqrt(mean(square({}), axis={}, keepdims=True) + {})", centred.text,
                           list, call.like(0, call.number("epsilon", 1e-5F))));
  std::string text = fmt::format("{} * {} * {}", centred.text, factor.text, call.text(1));
  if (call.has(2)) text += fmt::format(" + {}", call.text(2));
  call.give(text);
  if (call.wants(1) || call.wants(2)) call.give(mean);
  if (call.wants(2)) call.give(factor);
}

void local_response(Call& call) {
  const auto number = [&](std::string_view key, double otherwise) {
    return literal(call.number(key, otherwise), DType::Float32);
  };
  call.give(fmt::format("nn.lrn({}, size={}, bias={}, alpha={}, beta={})", call.text(0),
                        call.integer("size", 1), number("bias", 1), number("alpha", 0.0001F),
                        number("beta", 0.75)));
}

void mean_variance(Call& call) {
  const auto axes =
      call.axes(call.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3}), call.rank(0));
  const std::string list = list_text(axes);
  const std::string x = call.text(0);
  const Value mean = call.let("mean_", fmt::format("mean({}, axis={}, keepdims=True)", x, list));
  call.give(fmt::format(
      "({0} - {1}) / (sqrt(mean(square({0}), axis={2}, keepdims=True) - square({1})) + {3})", x,
      mean.text, list, call.like(0, 1e-9)));
}

void dropout(Call& call) {
  if (call.has(2)) {
    const auto training = call.in(2).constant;
    if (!training || training->element_count() != 1 || training->bits_at(0) != 0)
      call.unsupported("dropout that is trained: export the model for inference");
  }
  call.give(Value(call.in(0)));
  if (call.wants(1))
    call.give(fmt::format("full(True, shape={}, dtype=\"bool\")", list_text(call.in(0).dims())));
}

void matrix_product(Call& call) { call.give(fmt::format("{} @ {}", call.text(0), call.text(1))); }

void gemm(Call& call) {
  const double alpha = call.number("alpha", 1);
  const double beta = call.number("beta", 1);
  std::string a = call.text(0);
  if (call.integer("transA", 0) != 0) a = fmt::format("transpose({})", a);
  std::string text = call.integer("transB", 0) != 0
                         ? fmt::format("nn.dense({}, {})", a, call.text(1))
                         : fmt::format("{} @ {}", a, call.text(1));
  if (alpha != 1) text = fmt::format("{} * ({})", call.like(0, alpha), text);
  if (call.has(2) && beta != 0) {
    text += beta == 1 ? fmt::format(" + {}", call.text(2))
                      : fmt::format(" + {} * {}", call.like(0, beta), call.text(2));
  }
  call.give(text);
}

void einsum(Call& call) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < call.input_count(); ++k) texts.push_back(call.text(k));
  call.give(fmt::format("einsum(({}{}), equation={})", fmt::join(texts, ", "),
                        texts.size() == 1 ? "," : "", string_literal(call.string("equation", ""))));
}

void grid_sample(Call& call) {
  if (call.rank(0) != 4) call.unsupported("grids over other than two axes");
  const std::string mode = call.string("mode", "bilinear");
  std::string rest = fmt::format(", method={}", string_literal(mode));
  rest += fmt::format(", padding_mode={}", string_literal(call.string("padding_mode", "zeros")));
  rest += call.integer("align_corners", 0) != 0 ? "" : ", align_corners=False";
  call.give(fmt::format("image.grid_sample({}, transpose({}, axes=[0, 3, 1, 2]){})", call.text(0),
                        call.text(1), rest));
}

void roi_align(Call& call) {
  const std::string where = call.string("coordinate_transformation_mode",
                                        call.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (where != "output_half_pixel")
    call.unsupported("regions whose coordinates are shifted by half a pixel (half_pixel)");
  const Value rois = call.let(
      "regions",
      fmt::format("concatenate((expand_dims(cast({}, dtype=\"float32\"), axis=1), {}), axis=1)",
                  call.text(2), call.text(1)));
  call.give(fmt::format(
      "vision.roi_align({}, {}, pooled_size=[{}, {}], spatial_scale={}, sample_ratio={}, mode={})",
      call.text(0), rois.text, call.integer("output_height", 1), call.integer("output_width", 1),
      literal(call.number("spatial_scale", 1), DType::Float32),
      call.integer("sampling_ratio", 0) == 0 ? -1 : call.integer("sampling_ratio", 0),
      string_literal(call.string("mode", "avg"))));
}

void roi_pool(Call& call) {
  const auto shape = call.integers("pooled_shape");
  if (!shape || shape->size() != 2) call.bad("`pooled_shape` has not two elements");
  call.give(fmt::format("vision.roi_pool({}, {}, pooled_size={}, spatial_scale={})", call.text(0),
                        call.text(1), list_text(*shape),
                        literal(call.number("spatial_scale", 1), DType::Float32)));
}

void loss(Call& call) {
  const bool takes_logits = call.node.op == "SoftmaxCrossEntropyLoss";
  const std::string reduction = call.string("reduction", "mean");
  const DType dtype = call.in(0).dtype();
  std::string scores = call.text(0);
  if (takes_logits)
    scores = call.let("log_probabilities", fmt::format("nn.log_softmax({}, axis=1)", scores)).text;
  const std::string weights =
      call.has(2)
          ? call.text(2)
          : fmt::format("ones(shape=[{}], dtype={})",
                        call.in(0).dims().size() > 1 ? call.in(0).dims()[1].to_string() : "1",
                        dtype_text(dtype));
  // Where no class is left out, every place counts: -1 is none.
  const std::int64_t ignored = call.integer("ignore_index", -2147483648LL);
  call.give(fmt::format("nn.nll_loss({}, {}, {}, reduction={}, ignore_index={})", scores,
                        call.text(1), weights, string_literal(reduction), ignored));
  if (takes_logits && call.wants(1)) {
    const lang::Type type = call.importer.type_of(scores);
    call.give(Value{.name = scores, .text = scores, .type = type});
  }
}

constexpr auto kLayersOperators = std::to_array<Operator>({
    {"Conv", &convolution, "over one to three axes"},
    {"ConvTranspose", &transposed_convolution, "over one to three axes"},
    {"MaxPool", &pool, "without the places"},
    {"AveragePool", &pool, ""},
    {"LpPool", &pool, ""},
    {"GlobalAveragePool", &global_pool, ""},
    {"GlobalMaxPool", &global_pool, ""},
    {"GlobalLpPool", &global_pool, ""},
    {"BatchNormalization", &batch_norm, "also `training_mode`"},
    {"InstanceNormalization", &instance_norm, ""},
    {"LayerNormalization", &layer_norm, ""},
    {"LRN", &local_response, ""},
    {"MeanVarianceNormalization", &mean_variance, ""},
    {"Dropout", &dropout, "of inference: gives no line"},
    {"MatMul", &matrix_product, ""},
    {"Gemm", &gemm, ""},
    {"Einsum", &einsum, ""},
    {"GridSample", &grid_sample, "over two axes"},
    {"RoiAlign", &roi_align, "of output_half_pixel"},
    {"MaxRoiPool", &roi_pool, ""},
    {"SoftmaxCrossEntropyLoss", &loss, ""},
    {"NegativeLogLikelihoodLoss", &loss, ""},
});

}  // namespace

std::span<const Operator> layer_operators() { return kLayersOperators; }

}  // namespace relay::models::onnx
