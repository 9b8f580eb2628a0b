// Convolutions and pools.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "models/exporter/layout.h"
#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

using Ints = std::vector<std::int64_t>;

std::string layout_of(Call& call, std::string_view key, std::string_view otherwise) {
  const std::string& layout = call.attrs->get_string(key);
  return layout.empty() ? std::string(otherwise) : layout;
}

// The result of a convolution that has been computed in the usual layout.
Value convolved(Call& call, std::string name, const std::string& layout, std::size_t spatial) {
  name = in_layout(call, name, usual_layout("NC", spatial), layout_of(call, "out_layout", layout));
  if (call.result().dtype.known() != call.dtype())
    name = cast(call, name, call.result().dtype.known());
  return call.give(name);
}

void require_floats(Call& call) {
  if (!lang::is_float(call.dtype())) call.unsupported("of integers");
}

Value convolution(Call& call) {
  require_floats(call);
  const std::size_t spatial = call.rank(0) - 2;
  const std::string layout = call.attrs->get_string("data_layout");
  const std::string data = in_layout(call, call.in(0), layout, usual_layout("NC", spatial));
  const std::string weight = in_layout(call, call.in(1), call.attrs->get_string("kernel_layout"),
                                       usual_layout("OI", spatial));
  Attributes attributes = {{"strides", for_each_axis(call, "strides", spatial)},
                           {"dilations", for_each_axis(call, "dilation", spatial)},
                           {"pads", padding_of(call, spatial)},
                           {"group", call.attrs->get_int("groups")}};
  return convolved(call, call.node("Conv", {data, weight}, std::move(attributes)), layout, spatial);
}

Value transposed_convolution(Call& call) {
  require_floats(call);
  const std::size_t spatial = call.rank(0) - 2;
  const std::string layout = call.attrs->get_string("data_layout");
  const std::string data = in_layout(call, call.in(0), layout, usual_layout("NC", spatial));
  const std::string weight = in_layout(call, call.in(1), call.attrs->get_string("kernel_layout"),
                                       usual_layout("IO", spatial));
  Attributes attributes = {{"strides", for_each_axis(call, "strides", spatial)},
                           {"dilations", for_each_axis(call, "dilation", spatial)},
                           {"pads", padding_of(call, spatial)},
                           {"output_padding", for_each_axis(call, "output_padding", spatial)},
                           {"group", call.attrs->get_int("groups")}};
  return convolved(call, call.node("ConvTranspose", {data, weight}, std::move(attributes)), layout,
                   spatial);
}

struct Window {
  Ints kernel, strides, dilations, pads;
};

// With `ceil_mode` a last window may overhang. ONNX has such windows too, but not all that read it
// agree on which: there is padding for it instead.
void add_overhang(Call& call, const std::vector<lang::Dim>& from, const std::vector<lang::Dim>& to,
                  Window& window) {
  const std::size_t axes = window.kernel.size();
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t extent = call.number(from[k], "extent with `ceil_mode`");
    const std::int64_t count = call.number(to[k], "extent with `ceil_mode`");
    const std::int64_t needed =
        (count - 1) * window.strides[k] + (window.kernel[k] - 1) * window.dilations[k] + 1;
    std::int64_t& back = window.pads[axes + k];
    back = std::max(back, needed - extent - window.pads[k]);
    if (back >= window.kernel[k]) call.unsupported("with windows of which nothing is data");
  }
}

std::vector<lang::Dim> spatial_dims(const std::vector<lang::Dim>& dims, const std::string& layout) {
  std::vector<lang::Dim> result;
  for (const char axis : std::string_view("DHW")) {
    const std::size_t place = layout.find(axis);
    if (place != std::string::npos && place < dims.size()) result.push_back(dims[place]);
  }
  return result;
}

Value pool(Call& call) {
  require_floats(call);
  const std::size_t spatial = call.rank(0) - 2;
  const std::string layout = call.attrs->get_string("layout");
  const std::string out_layout = layout_of(call, "out_layout", layout);
  const std::string data = in_layout(call, call.in(0), layout, usual_layout("NC", spatial));
  Window window{for_each_axis(call, "pool_size", spatial), for_each_axis(call, "strides", spatial),
                for_each_axis(call, "dilation", spatial), padding_of(call, spatial)};
  const bool is_mean = call.op.name.find("avg") != std::string::npos;
  const bool overhangs = call.attrs->get_bool("ceil_mode");
  const bool counts_padding = is_mean && call.attrs->get_bool("count_include_pad");
  if (overhangs && counts_padding) call.unsupported("with `ceil_mode` and `count_include_pad`");
  if (overhangs)
    add_overhang(call, spatial_dims(call.dims(), layout),
                 spatial_dims(call.result().shape.dims(), out_layout), window);
  Attributes attributes = {
      {"kernel_shape", window.kernel}, {"strides", window.strides}, {"pads", window.pads}};
  const bool is_dilated = std::any_of(window.dilations.begin(), window.dilations.end(),
                                      [](std::int64_t step) { return step != 1; });
  if (is_mean) {
    if (is_dilated) call.unsupported("with `dilation`");
    attributes["count_include_pad"] = std::int64_t{counts_padding};
  } else {
    attributes["dilations"] = window.dilations;
  }
  const std::string name =
      call.node(is_mean ? "AveragePool" : "MaxPool", {data}, std::move(attributes));
  return call.give(in_layout(call, name, usual_layout("NC", spatial), out_layout));
}

Value global_pool(Call& call) {
  require_floats(call);
  const std::string layout = call.attrs->get_string("layout");
  const std::string usual = usual_layout("NC", call.rank(0) - 2);
  const bool is_mean = call.op.name.find("avg") != std::string::npos;
  const std::string name = call.node(is_mean ? "GlobalAveragePool" : "GlobalMaxPool",
                                     {in_layout(call, call.in(0), layout, usual)});
  return call.give(in_layout(call, name, usual, layout_of(call, "out_layout", layout)));
}

Value adaptive_pool(Call& call) {
  require_floats(call);
  const std::string layout = call.attrs->get_string("layout");
  const auto from = spatial_dims(call.dims(), layout);
  const auto to = spatial_dims(call.result().shape.dims(), layout_of(call, "out_layout", layout));
  if (std::all_of(to.begin(), to.end(), [](const lang::Dim& dim) { return dim.is_constant(1); }))
    return global_pool(call);
  Ints kernel;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::int64_t extent = call.number(from[k], "extent");
    const std::int64_t count = call.number(to[k], "extent");
    if (extent % count != 0) call.unsupported("with windows of several extents");
    kernel.push_back(extent / count);
  }
  const std::string usual = usual_layout("NC", to.size());
  const bool is_mean = call.op.name.find("avg") != std::string::npos;
  const std::string name =
      call.node(is_mean ? "AveragePool" : "MaxPool", {in_layout(call, call.in(0), layout, usual)},
                {{"kernel_shape", kernel}, {"strides", kernel}});
  return call.give(in_layout(call, name, usual, layout_of(call, "out_layout", layout)));
}

constexpr std::string_view kLayouts = "floats; other layouts by `Transpose`";
constexpr std::string_view kCeil = "floats; `ceil_mode`: extents that are numbers";
constexpr std::string_view kAdaptive =
    "or `GlobalAveragePool`, `GlobalMaxPool`; others by their windows";

constexpr auto kWindows = std::to_array<Operator>({
    {"nn.adaptive_avg_pool1d", &adaptive_pool, "`AveragePool`", kAdaptive},
    {"nn.adaptive_avg_pool2d", &adaptive_pool, "`AveragePool`", kAdaptive},
    {"nn.adaptive_avg_pool3d", &adaptive_pool, "`AveragePool`", kAdaptive},
    {"nn.adaptive_max_pool1d", &adaptive_pool, "`MaxPool`", kAdaptive},
    {"nn.adaptive_max_pool2d", &adaptive_pool, "`MaxPool`", kAdaptive},
    {"nn.adaptive_max_pool3d", &adaptive_pool, "`MaxPool`", kAdaptive},
    {"nn.avg_pool1d", &pool, "`AveragePool`", kCeil},
    {"nn.avg_pool2d", &pool, "`AveragePool`", kCeil},
    {"nn.avg_pool3d", &pool, "`AveragePool`", kCeil},
    {"nn.conv1d", &convolution, "`Conv`", kLayouts},
    {"nn.conv1d_transpose", &transposed_convolution, "`ConvTranspose`", kLayouts},
    {"nn.conv2d", &convolution, "`Conv`", kLayouts},
    {"nn.conv2d_transpose", &transposed_convolution, "`ConvTranspose`", kLayouts},
    {"nn.conv3d", &convolution, "`Conv`", kLayouts},
    {"nn.conv3d_transpose", &transposed_convolution, "`ConvTranspose`", kLayouts},
    {"nn.global_avg_pool2d", &global_pool, "`GlobalAveragePool`", "floats"},
    {"nn.global_max_pool2d", &global_pool, "`GlobalMaxPool`", "floats"},
    {"nn.max_pool1d", &pool, "`MaxPool`", kCeil},
    {"nn.max_pool2d", &pool, "`MaxPool`", kCeil},
    {"nn.max_pool3d", &pool, "`MaxPool`", kCeil},
});

}  // namespace

std::span<const Operator> window_operators() { return kWindows; }

}  // namespace relay::models::exporter
