// Norms, softmax and other layers of networks.
#include <algorithm>
#include <array>
#include <utility>

#include "models/exporter/layout.h"
#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

// A number for each channel, as it is broadcast over data.
std::string by_channel(Call& call, const std::string& name, std::int64_t axis) {
  std::vector<std::int64_t> axes;
  for (std::int64_t k = 1; k < static_cast<std::int64_t>(call.rank(0)) - axis; ++k)
    axes.push_back(k);
  return call.graph.unsqueeze(name, axes);
}

// So many of one number, which stand for a factor or summand that is not wanted.
std::string repeated(Call& call, double number, const lang::Dim& count) {
  return call.node("Expand",
                   {call.graph.scalar(number, call.dtype()), call.graph.extents({count})});
}

struct Scaling {
  std::string factor, summand;  // of each channel
};

Scaling scaling_of(Call& call, std::int64_t axis) {
  const lang::Dim& channels = call.dims()[static_cast<std::size_t>(axis)];
  return {call.attrs->get_bool("scale") ? call.in(1) : repeated(call, 1, channels),
          call.attrs->get_bool("center") ? call.in(2) : repeated(call, 0, channels)};
}

// The data with its mean and variance, as they were given.
Value batch_norm(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  const Scaling scaling = scaling_of(call, axis);
  const double epsilon = call.attrs->get_float("epsilon");
  std::string name;
  if (axis == 1) {
    name = call.node("BatchNormalization",
                     {call.in(0), scaling.factor, scaling.summand, call.in(3), call.in(4)},
                     {{"epsilon", epsilon}});
  } else {
    const std::string spread = call.node(
        "Sqrt", {call.node("Add", {call.in(4), call.graph.scalar(epsilon, call.dtype())})});
    const std::string factor = call.node("Div", {scaling.factor, spread});
    const std::string centred = call.node("Sub", {call.in(0), by_channel(call, call.in(3), axis)});
    name = call.node("Add", {call.node("Mul", {centred, by_channel(call, factor, axis)}),
                             by_channel(call, scaling.summand, axis)});
  }
  const auto* tuple = lang::as<lang::TupleType>(call.type);
  return fields_value({tensor_value(name, tuple->fields[0]), call.arg(3), call.arg(4)}, call.type);
}

Value layer_norm(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  if (axis + 1 != static_cast<std::int64_t>(call.rank(0)))
    call.unsupported("over another axis than the last");
  const Scaling scaling = scaling_of(call, axis);
  return call.give(call.node("LayerNormalization", {call.in(0), scaling.factor, scaling.summand},
                             {{"axis", axis}, {"epsilon", call.attrs->get_float("epsilon")}}));
}

Value instance_norm(Call& call) {
  if (call.axis("axis", call.rank(0)) != 1) call.unsupported("over another axis than the second");
  const Scaling scaling = scaling_of(call, 1);
  return call.give(call.node("InstanceNormalization", {call.in(0), scaling.factor, scaling.summand},
                             {{"epsilon", call.attrs->get_float("epsilon")}}));
}

// Opset 17 has no `GroupNormalization`: each group is an instance.
Value group_norm(Call& call) {
  if (call.axis("axis", call.rank(0)) != 1) call.unsupported("over another axis than the second");
  const std::int64_t groups = call.attrs->get_int("num_groups");
  const Scaling scaling = scaling_of(call, 1);
  const std::string parts =
      call.node("Reshape", {call.in(0), call.graph.integers({0, groups, -1})});
  const std::string norm = call.node("InstanceNormalization",
                                     {parts, repeated(call, 1, groups), repeated(call, 0, groups)},
                                     {{"epsilon", call.attrs->get_float("epsilon")}});
  const std::string whole = call.node("Reshape", {norm, call.node("Shape", {call.in(0)})});
  const std::string scaled = call.node("Mul", {whole, by_channel(call, scaling.factor, 1)});
  return call.give(call.node("Add", {scaled, by_channel(call, scaling.summand, 1)}));
}

Value l2_normalize(Call& call) {
  const std::string x = call.in(0);
  std::vector<std::int64_t> axes = call.attrs->get_ints("axis");
  const std::string squares =
      call.node("ReduceSum", {call.node("Mul", {x, x}), call.graph.integers(axes)},
                {{"keepdims", std::int64_t{1}}});
  const std::string least = call.graph.scalar(call.attrs->get_float("eps"), call.dtype());
  const std::string length = call.node("Sqrt", {call.node("Max", {squares, least})});
  return call.give(call.node("Div", {x, length}));
}

Value local_response(Call& call) {
  if (call.axis("axis", call.rank(0)) != 1) call.unsupported("along another axis than the second");
  return call.give_node("LRN", {{"size", call.attrs->get_int("size")},
                                {"bias", call.attrs->get_float("bias")},
                                {"alpha", call.attrs->get_float("alpha")},
                                {"beta", call.attrs->get_float("beta")}});
}

template <auto& kNode>
Value softmax(Call& call) {
  return call.give_node(kNode, {{"axis", call.axis("axis", call.rank(0))}});
}
constexpr char kSoftmax[] = "Softmax";
constexpr char kLogSoftmax[] = "LogSoftmax";

Value prelu(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  return call.give(call.node("PRelu", {call.in(0), by_channel(call, call.in(1), axis)}));
}

// Without a key nothing is dropped.
Value dropout(Call& call) {
  const bool has_key = call.args.size() > 1 && call.arg(1).is_tensor();
  if (has_key) call.unsupported("with a key: numbers that are drawn");
  const auto* tuple = lang::as<lang::TupleType>(call.type);
  if (!tuple) return call.arg(0);
  const std::string ones =
      call.node("Expand", {call.graph.scalar(1, call.dtype()), call.node("Shape", {call.in(0)})});
  return fields_value({call.arg(0), tensor_value(ones, tuple->fields[1])}, call.type);
}

Value depth_to_space(Call& call) {
  const bool is_depth_first = call.attrs->get_string("mode") == "DCR";
  const std::string layout = call.attrs->get_string("layout");
  const std::string data = in_layout(call, call.in(0), layout, "NCHW");
  const std::string name =
      call.node("DepthToSpace", {data},
                {{"blocksize", call.attrs->get_int("block_size")},
                 {"mode", is_depth_first ? std::string("DCR") : std::string("CRD")}});
  return call.give(in_layout(call, name, "NCHW", layout));
}

Value space_to_depth(Call& call) {
  if (call.attrs->get_string("mode") != "DCR") call.unsupported("with `mode` other than \"DCR\"");
  const std::string layout = call.attrs->get_string("layout");
  const std::string data = in_layout(call, call.in(0), layout, "NCHW");
  const std::string name =
      call.node("SpaceToDepth", {data}, {{"blocksize", call.attrs->get_int("block_size")}});
  return call.give(in_layout(call, name, "NCHW", layout));
}

// To the extents of the result.
Value resized(Call& call, const std::string& method, const std::string& coordinates,
              const std::string& rounding, double alpha, bool excludes) {
  const std::size_t spatial = call.rank(0) - 2;
  const std::string layout = call.attrs->get_string("layout");
  const std::string usual = usual_layout("NC", spatial);
  if (!lang::is_float(call.dtype())) call.unsupported("of integers");
  const std::string data = in_layout(call, call.in(0), layout, usual);
  std::vector<lang::Dim> extents;
  for (const char axis : usual) {
    const std::size_t place = layout.find(axis);
    if (place == std::string::npos) call.unsupported("in this layout");
    extents.push_back(call.result().shape[place]);
  }
  Attributes attributes = {{"mode", method},
                           {"coordinate_transformation_mode", coordinates},
                           {"cubic_coeff_a", alpha},
                           {"exclude_outside", std::int64_t{excludes}}};
  if (method == "nearest") attributes["nearest_mode"] = rounding;
  const std::string name =
      call.node("Resize", {data, "", "", call.graph.extents(extents)}, std::move(attributes));
  return call.give(in_layout(call, name, usual, layout));
}

Value resize(Call& call) {
  std::string method = call.attrs->get_string("method");
  if (method == "nearest_neighbor") method = "nearest";
  const std::string coordinates = call.attrs->get_string("coordinate_transformation_mode");
  constexpr auto kKnown = std::to_array<std::string_view>(
      {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"});
  if (std::find(kKnown.begin(), kKnown.end(), coordinates) == kKnown.end())
    call.unsupported("with these coordinates");
  std::string rounding = call.attrs->get_string("rounding_method");
  if (rounding.empty()) rounding = coordinates == "align_corners" ? "round" : "floor";
  // No place in front of the first counts: half is rounded up.
  if (rounding == "round") rounding = "round_prefer_ceil";
  if (!call.attrs->is_null("out_dtype") && call.result().dtype.known() != call.dtype())
    call.unsupported("with another `out_dtype`");
  return resized(call, method, coordinates, rounding, call.attrs->get_float("cubic_alpha"),
                 call.attrs->get_int("cubic_exclude") != 0);
}

constexpr auto kLayers = std::to_array<Operator>({
    {"image.resize1d", &resize, "`Resize`", "floats"},
    {"image.resize2d", &resize, "`Resize`", "floats"},
    {"image.resize3d", &resize, "`Resize`", "floats"},
    {"nn.batch_norm", &batch_norm, "`BatchNormalization`",
     "of other channels than the second axis `Sub`, `Mul`, `Add`"},
    {"nn.depth_to_space", &depth_to_space, "`DepthToSpace`"},
    {"nn.dropout", &dropout, "nothing", "without a key"},
    {"nn.fast_softmax", &softmax<kSoftmax>, "`Softmax`"},
    {"nn.group_norm", &group_norm, "`Reshape`, `InstanceNormalization`, `Mul`, `Add`",
     "channels are the second axis"},
    {"nn.instance_norm", &instance_norm, "`InstanceNormalization`", "channels are the second axis"},
    {"nn.l2_normalize", &l2_normalize, "`ReduceSum`, `Max`, `Sqrt`, `Div`"},
    {"nn.layer_norm", &layer_norm, "`LayerNormalization`"},
    {"nn.log_softmax", &softmax<kLogSoftmax>, "`LogSoftmax`"},
    {"nn.lrn", &local_response, "`LRN`"},
    {"nn.prelu", &prelu, "`PRelu`"},
    {"nn.softmax", &softmax<kSoftmax>, "`Softmax`"},
    {"nn.space_to_depth", &space_to_depth, "`SpaceToDepth`"},
});

}  // namespace

std::span<const Operator> layer_operators() { return kLayers; }

}  // namespace relay::models::exporter
