// Elements at places that are data, and writing to such places.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

using lang::DType;
using Ints = std::vector<std::int64_t>;

bool is_place(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

std::string places_of(Call& call, std::size_t k) {
  return is_place(call.dtype(k)) ? call.in(k) : cast(call, call.in(k), DType::Int64);
}

// Are they known, and within the axis?
bool are_within(const Value& places, const lang::Dim& extent) {
  if (!places.constant || !extent.is_constant()) return false;
  for (std::int64_t k = 0; k < places.constant->element_count(); ++k) {
    const double place = places.constant->number_at(k);
    if (place < 0 || place >= static_cast<double>(extent.constant())) return false;
  }
  return true;
}

// ONNX's places must be within the axis; what `mode` says of others is computed. `extent`: an int64
// of the graph.
std::string moved_within(Call& call, std::size_t k, const std::string& extent) {
  const DType dtype = is_place(call.dtype(k)) ? call.dtype(k) : DType::Int64;
  const std::string places = places_of(call, k);
  const auto number = [&](const std::string& name) {
    return dtype == DType::Int64 ? name : cast(call, name, dtype);
  };
  if (call.attrs->get_string("mode") == "wrap") return call.node("Mod", {places, number(extent)});
  const std::string above = call.node("Max", {places, call.graph.scalar(0, dtype)});
  const std::string last = call.node("Sub", {extent, call.graph.scalar(1, DType::Int64)});
  return call.node("Min", {above, number(last)});
}

Value take(Call& call) {
  if (call.attrs->get_int("batch_dims") != 0) call.unsupported("with `batch_dims`");
  std::string data = call.in(0);
  std::int64_t axis = 0;
  const bool is_flat = call.attrs->is_null("axis");
  if (is_flat) {
    data = call.node("Reshape", {data, call.graph.integers({-1})});
  } else {
    axis = call.axis("axis", call.rank(0));
  }
  const auto places = [&] {
    const bool is_known =
        !is_flat && are_within(call.arg(1), call.dims()[static_cast<std::size_t>(axis)]);
    if (is_known || call.attrs->get_string("mode") == "fast") return places_of(call, 1);
    return moved_within(call, 1, is_flat ? call.node("Size", {data}) : call.extent_of(0, axis));
  };
  return call.give(call.node("Gather", {data, places()}, {{"axis", axis}}));
}

Value gather(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  return call.give(call.node("GatherElements", {call.in(0), places_of(call, 1)}, {{"axis", axis}}));
}

// Coordinates stand along the first axis here, along the last in ONNX; there they are int64.
std::string coordinates(Call& call, std::size_t k) {
  std::string name = call.in(k);
  if (call.dtype(k) != DType::Int64) name = cast(call, name, DType::Int64);
  Ints axes;
  for (std::size_t axis = 1; axis < call.rank(k); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  axes.push_back(0);
  return transpose(call.graph, name, axes);
}

Value gather_nd(Call& call) {
  return call.give(call.node("GatherND", {call.in(0), coordinates(call, 1)},
                             {{"batch_dims", call.attrs->get_int("batch_dims")}}));
}

std::string fold_of(Call& call, std::string_view key) {
  const std::string& mode = call.attrs->get_string(key);
  if (mode == "update") return "none";
  if (mode != "add" && mode != "mul") call.unsupported(fmt::format("with \"{}\"", mode));
  return mode;
}

Value scatter_elements(Call& call) {
  if (call.dims(1) != call.dims(2)) call.unsupported("with more updates than places");
  return call.give(call.node(
      "ScatterElements", {call.in(0), places_of(call, 1), call.in(2)},
      {{"axis", call.axis("axis", call.rank(0))}, {"reduction", fold_of(call, "reduction")}}));
}

Value scatter_nd(Call& call) {
  const std::string fold = fold_of(call, "mode");
  return call.give(call.node("ScatterND", {call.in(0), coordinates(call, 1), call.in(2)},
                             {{"reduction", fold}}));
}

// Index tensors for the leading axes.
Value advanced(Call& call) {
  std::vector<Value> parts = call.arg(0).fields;
  const std::size_t count = parts.size() - 1;
  const std::string data = call.graph.name_of(parts[0]);
  if (count == 1) {
    std::string places = call.graph.name_of(parts[1]);
    if (!is_place(parts[1].dtype())) places = cast(call, places, DType::Int64);
    return call.give(call.node("Gather", {data, places}, {{"axis", std::int64_t{0}}}));
  }
  const auto& result = call.result().shape.dims();
  const std::vector<lang::Dim> shared(
      result.begin(), result.end() - static_cast<std::ptrdiff_t>(parts[0].rank() - count));
  std::vector<std::string> columns;
  for (std::size_t k = 1; k < parts.size(); ++k) {
    std::string name = call.graph.name_of(parts[k]);
    if (parts[k].dtype() != DType::Int64) name = cast(call, name, DType::Int64);
    if (parts[k].dims() != shared) name = call.node("Expand", {name, call.graph.extents(shared)});
    columns.push_back(call.graph.unsqueeze(name, {static_cast<std::int64_t>(shared.size())}));
  }
  const std::string places = call.node("Concat", std::move(columns), {{"axis", std::int64_t{-1}}});
  return call.give(call.node("GatherND", {data, places}));
}

// `OneHot` counts negative places from the end, and here they are none: it is a comparison.
Value one_hot(Call& call) {
  const std::int64_t axis = call.axis("axis", call.result().shape.rank());
  const std::int64_t depth = call.attrs->get_int("depth");
  const DType dtype = call.result().dtype.known();
  std::string indices = call.graph.unsqueeze(places_of(call, 0), {axis});
  const DType of_places = is_place(call.dtype()) ? call.dtype() : DType::Int64;
  const auto numbers = lang::Tensor::make(of_places, {depth});
  for (std::int64_t k = 0; k < depth; ++k) numbers->set_bits(k, lang::bits_from_int(of_places, k));
  Ints behind;
  const auto rank = static_cast<std::int64_t>(call.result().shape.rank());
  for (std::int64_t k = 1; k < rank - axis; ++k) behind.push_back(k);
  const std::string places = call.graph.unsqueeze(call.graph.constant(numbers), behind);
  std::string on = call.in(1);
  std::string off = call.in(2);
  if (call.dtype(1) != dtype) on = cast(call, on, dtype);
  if (call.dtype(2) != dtype) off = cast(call, off, dtype);
  return call.give(call.node("Where", {call.node("Equal", {indices, places}), on, off}));
}

constexpr std::string_view kFolds = "`update`, `add`, `mul`";

constexpr auto kIndexing = std::to_array<Operator>({
    {"adv_index", &advanced, "`Gather`, `GatherND`"},
    {"gather", &gather, "`GatherElements`"},
    {"gather_nd", &gather_nd, "`Transpose`, `GatherND`"},
    {"one_hot", &one_hot, "`Unsqueeze`, `Equal`, `Where`"},
    {"scatter_elements", &scatter_elements, "`ScatterElements`", kFolds},
    {"scatter_nd", &scatter_nd, "`Transpose`, `ScatterND`", kFolds},
    {"take", &take, "`Gather`", "places out of range by `Max`, `Min` or `Mod`"},
});

}  // namespace

std::span<const Operator> indexing_operators() { return kIndexing; }

}  // namespace relay::models::exporter
