// The operators of Arm's Ethos-U: typed, and refused when they run.

#include <optional>
#include <string>

#include "lang/attrs_struct.h"
#include "stdlib/ops/vendor.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace {

using Specs = std::vector<AttrSpec>;

constexpr const char* kInstead = "it needs the device; use the plain and the `qnn` operators";

// --- Attributes ---

// The scale and the zero point of feature map `map`.
Specs quantization(const std::string& map) {
  return {required_attr((map + "_scale").c_str(), AttrKind::Float, "the scale of the feature map"),
          required_attr((map + "_zero_point").c_str(), AttrKind::Int,
                        "the zero point of the feature map")};
}

AttrSpec word_attribute(const std::string& name, const char* value, const char* doc) {
  return optional_attr(name.c_str(), AttrKind::String, value, doc);
}

Specs activation(bool clips) {
  Specs specs = {word_attribute("activation", "NONE", "the function that follows")};
  if (clips) {
    specs.push_back(optional_attr("clip_min", AttrKind::Int, 0, "the least value, if it clips"));
    specs.push_back(optional_attr("clip_max", AttrKind::Int, 0, "the largest value, if it clips"));
  }
  specs.push_back(word_attribute("rounding_mode", "TFL", "how results are rounded"));
  return specs;
}

Specs layouts(std::initializer_list<const char*> maps) {
  Specs specs;
  for (const char* map : maps)
    specs.push_back(word_attribute(std::string(map) + "_layout", "NHWC", "`NHWC` or `NHCWB16`"));
  return specs;
}

// The extents of a window, its steps and the padding; `kernel` names the first.
Specs window(const char* kernel, bool dilates) {
  Specs specs = {nullable_attr(kernel, AttrKind::IntList, "extents of the window"),
                 nullable_attr("ofm_channels", AttrKind::Int, "channels of the result"),
                 optional_attr("strides", AttrKind::IntList, AttrValue::ints({1, 1}),
                               "how far the window moves"),
                 optional_attr("padding", AttrKind::IntList, AttrValue::ints({0, 0, 0, 0}),
                               "top, left, bottom and right")};
  if (dilates) {
    specs.push_back(optional_attr("dilation", AttrKind::IntList, AttrValue::ints({1, 1}),
                                  "how far the elements of the window are apart"));
  }
  return specs;
}

const AttrSpec kUpscale = word_attribute("upscale", "NONE", "`NONE`, `NEAREST` or `ZEROS`");

AttrSpec ofm_dtype(const char* fallback) {
  const char* doc = "dtype of the result";
  return fallback ? word_attribute("ofm_dtype", fallback, doc)
                  : required_attr("ofm_dtype", AttrKind::String, doc);
}

Specs joined(std::initializer_list<Specs> parts) {
  Specs all;
  for (const Specs& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// --- Types ---

constexpr std::int64_t kBrick = 16;  // channels in a block of `NHCWB16`

struct FeatureMap {
  Dim batch, height, width, channels;
};

bool is_bricks(const TypeCall& call, const char* key) {
  const std::string& layout = call.attrs->get_string(key);
  if (layout != "NHWC" && layout != "NHCWB16") {
    lang::fail(DiagnosticKind::BadAttribute,
               "`" + std::string(key) + "` is `NHWC` or `NHCWB16`, not `" + layout + "`",
               call.span);
  }
  return layout == "NHCWB16";
}

// The extents of the input; nothing while its rank is not known.
std::optional<FeatureMap> input_map(TypeCall& call) {
  const AttrValue* layout = call.attrs->find("ifm_layout");
  const bool bricks = layout && is_bricks(call, "ifm_layout");
  const Shape& shape = call.tensor_node(0).shape;
  if (!shape.has_rank()) return std::nullopt;
  const std::size_t rank = bricks ? 5 : 4;
  if (shape.rank() != rank) {
    call.fail(DiagnosticKind::RankMismatch,
              "the feature map must have rank " + std::to_string(rank) + ", and `" +
                  to_string(shape) + "` has rank " + std::to_string(shape.rank()));
  }
  if (bricks) return FeatureMap{shape[0], shape[1], shape[3], shape[2] * shape[4]};
  return FeatureMap{shape[0], shape[1], shape[2], shape[3]};
}

RuleOutcome returns_map(TypeCall& call, const FeatureMap& map, const DTypeTerm& dtype) {
  std::vector<Dim> dims = {map.batch, map.height, map.width, map.channels};
  if (call.attrs->find("ofm_layout") && is_bricks(call, "ofm_layout")) {
    const Dim bricks = Dim::floor_div(map.channels + Dim(kBrick - 1), Dim(kBrick));
    dims = {map.batch, map.height, bricks, map.width, Dim(kBrick)};
  }
  call.returns(lang::tensor_type(Shape(std::move(dims)), dtype));
  return RuleOutcome::Solved;
}

// The dtype that `ofm_dtype` names, else that of the input.
DTypeTerm result_dtype(TypeCall& call) {
  const AttrValue* value = call.attrs->find("ofm_dtype");
  if (!value) return call.tensor_node(0).dtype;
  const auto dtype = lang::coerce_attr(AttrKind::DType, *value);
  if (!dtype) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`ofm_dtype` is `" + *value->as_string() + "`, which is no dtype", call.span);
  }
  return *dtype->as_dtype();
}

RuleOutcome elementwise_rule(TypeCall& call) {
  const DTypeTerm dtype = result_dtype(call);
  const auto map = input_map(call);
  if (!map) return RuleOutcome::Stuck;
  return returns_map(call, *map, dtype);
}

lang::TypeRule window_rule(const char* kernel) {
  return [kernel](TypeCall& call) {
    check_window(call, 2);
    for (const char* key : {kernel, "ofm_channels"}) {
      if (!call.attrs->is_null(key)) continue;
      lang::fail(DiagnosticKind::MissingAttribute,
                 "`" + call.op.name + "` needs `" + key + "`: nothing else tells it", call.span);
    }
    const DTypeTerm dtype = result_dtype(call);
    const auto map = input_map(call);
    if (!map) return RuleOutcome::Stuck;
    const std::int64_t scale = call.attrs->get_string("upscale") == "NONE" ? 1 : 2;
    const std::vector<std::int64_t> size = per_axis(call.attrs, kernel, 2);
    const std::vector<std::int64_t> strides = per_axis(call.attrs, "strides", 2);
    const std::vector<std::int64_t> dilation = call.attrs->find("dilation")
                                                   ? per_axis(call.attrs, "dilation", 2)
                                                   : std::vector<std::int64_t>{1, 1};
    const Padding padding = padding_of(call.attrs, 2);
    const auto places = [&](std::size_t i, const Dim& extent) {
      return window_places(call, extent * Dim(scale), size[i], padding.front[i], padding.back[i],
                           strides[i], dilation[i]);
    };
    return returns_map(call,
                       {map->batch, places(0, map->height), places(1, map->width),
                        call.attrs->get_int("ofm_channels")},
                       dtype);
  };
}

// --- Records ---

void add(const char* name, const char* doc, std::initializer_list<const char*> inputs, Specs attrs,
         lang::TypeRule rule, const std::string& params, const std::string& rest) {
  std::string arguments;
  for (const char* input : inputs) arguments += std::string(input) + ", ";
  const std::string example =
      typed_example(params, std::string(name) + "(" + arguments + rest + ")");
  OpDef def = unsupported_operator(name, 11, doc, kInstead, example);
  for (const char* input : inputs) {
    const bool is_map = std::string(input).starts_with("ifm");
    def.inputs.push_back({input, is_map ? "a feature map" : "a table or parameters of the device"});
  }
  def.attrs = std::move(attrs);
  lang::set_attrs_struct(def.name, "Ethosu" + lang::attrs_struct_of(def),
                         {"ifm_channels", "ifm2_channels", "ofm_channels"});
  def.type_rule = std::move(rule);
  lang::OpRegistry::instance().add(std::move(def));
}

constexpr const char* kMap = "ifm: Tensor[(1, 8, 8, 4), int8], lut: Tensor[(0), int8]";
constexpr const char* kWeights =
    "ifm: Tensor[(1, 8, 8, 4), int8], weight: Tensor[(16, 3, 3, 4), int8], scale_bias: "
    "Tensor[(16, 10), uint8], lut: Tensor[(0), int8]";
constexpr const char* kScales = "ifm_scale=1.0, ifm_zero_point=0, ofm_scale=1.0, ofm_zero_point=0";

void add_convolutions() {
  const AttrSpec zero_point =
      required_attr("weight_zero_point", AttrKind::Int, "the zero point of the weight");
  const std::string rest =
      std::string(kScales) + ", weight_zero_point=0, kernel_shape=[3, 3], ofm_channels=16";
  const Specs common = joined({quantization("ifm"),
                               {zero_point},
                               quantization("ofm"),
                               window("kernel_shape", true),
                               activation(true),
                               {kUpscale},
                               layouts({"ifm", "ofm"})});
  add("contrib.ethosu.conv2d", "A convolution on Arm's Ethos-U.",
      {"ifm", "weight", "scale_bias", "lut"}, common, window_rule("kernel_shape"), kWeights, rest);
  add("contrib.ethosu.depthwise_conv2d", "A depthwise convolution on Arm's Ethos-U.",
      {"ifm", "weight", "scale_bias", "lut"}, joined({common, {ofm_dtype("int8")}}),
      window_rule("kernel_shape"), kWeights, rest);
}

void add_elementwise() {
  const AttrSpec type =
      required_attr("operator_type", AttrKind::String, "which function, such as `ADD` or `ABS`");
  const auto channels = [](const char* name) {
    return required_attr(name, AttrKind::Int, "channels of the feature map");
  };
  add("contrib.ethosu.binary_elementwise", "Arithmetic of two feature maps on Arm's Ethos-U.",
      {"ifm", "ifm2", "lut"},
      joined({{type},
              quantization("ifm"),
              quantization("ifm2"),
              quantization("ofm"),
              {channels("ifm_channels"), channels("ifm2_channels"),
               optional_attr("reversed_operands", AttrKind::Bool, false, "exchange the operands")},
              activation(true),
              layouts({"ifm", "ifm2", "ofm"}),
              {ofm_dtype(nullptr),
               optional_attr("use_rescale", AttrKind::Bool, false, "scale the result"),
               optional_attr("rescale_scale", AttrKind::Int, 0, "the factor of that"),
               optional_attr("rescale_shift", AttrKind::Int, 0, "the shift of that")}}),
      elementwise_rule,
      "ifm: Tensor[(1, 8, 8, 4), int8], ifm2: Tensor[(1, 8, 8, 4), int8], lut: Tensor[(0), int8]",
      std::string("operator_type=\"ADD\", ifm2_scale=1.0, ifm2_zero_point=0, ifm_channels=4, "
                  "ifm2_channels=4, ofm_dtype=\"int8\", ") +
          kScales);
  add("contrib.ethosu.unary_elementwise", "A function of a feature map on Arm's Ethos-U.",
      {"ifm", "lut"},
      joined({{type},
              quantization("ifm"),
              quantization("ofm"),
              {channels("ofm_channels")},
              activation(true),
              layouts({"ifm", "ofm"})}),
      elementwise_rule, kMap, std::string("operator_type=\"ABS\", ofm_channels=4, ") + kScales);
  add(
      "contrib.ethosu.identity", "A copy in another quantization on Arm's Ethos-U.", {"ifm", "lut"},
      joined({quantization("ifm"), quantization("ofm"), activation(false)}),
      [](TypeCall& call) {
        call.returns(call.tensor(0));
        return RuleOutcome::Solved;
      },
      kMap, kScales);
}

void add_pooling() {
  add("contrib.ethosu.pooling", "A pool on Arm's Ethos-U.", {"ifm", "lut"},
      joined({{required_attr("pooling_type", AttrKind::String, "`AVG`, `MAX` or `SUM`")},
              quantization("ifm"),
              quantization("ofm"),
              window("pool_shape", false),
              {ofm_dtype(nullptr)},
              activation(true),
              {kUpscale},
              layouts({"ifm", "ofm"})}),
      window_rule("pool_shape"), kMap,
      std::string("pooling_type=\"MAX\", pool_shape=[2, 2], ofm_channels=4, ofm_dtype=\"int8\", ") +
          kScales);
}

}  // namespace

void add_ethosu_operators() {
  add_convolutions();
  add_elementwise();
  add_pooling();
}

}  // namespace relay::stdlib
