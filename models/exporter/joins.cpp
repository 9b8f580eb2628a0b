// Several tensors as one, and one as several; order.
#include <array>
#include <optional>
#include <utility>

#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

using lang::DType;

Value concatenated(Call& call) {
  std::vector<std::string> parts;
  for (Value& each : call.arg(0).fields) parts.push_back(call.graph.name_of(each));
  const std::int64_t axis = call.axis("axis", call.result().shape.rank());
  return call.give(call.node("Concat", std::move(parts), {{"axis", axis}}));
}

// A shape that is written as extents, which are known, or are asked of the inputs.
std::optional<std::string> shape_of_extents(Call& call) {
  std::vector<lang::Dim> extents;
  for (const Value& each : call.arg(0).fields) {
    const bool is_extent = each.affine && !each.affine->lane && each.dtype() == DType::Int64;
    if (!is_extent) return std::nullopt;
    extents.push_back(each.affine->offset);
  }
  return call.graph.extents(extents);
}

Value stacked(Call& call) {
  if (const auto shape = shape_of_extents(call)) return call.give(*shape);
  const std::int64_t axis = call.axis("axis", call.result().shape.rank());
  std::vector<std::string> parts;
  for (Value& each : call.arg(0).fields)
    parts.push_back(call.graph.unsqueeze(call.graph.name_of(each), {axis}));
  return call.give(call.node("Concat", std::move(parts), {{"axis", axis}}));
}

Value split(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  const auto& types = lang::as<lang::TupleType>(call.type)->fields;
  std::vector<lang::Dim> extents;
  for (const lang::Type& type : types)
    extents.push_back(lang::as<lang::TensorType>(type)->shape[static_cast<std::size_t>(axis)]);
  const auto names = call.graph.nodes("Split", {call.in(0), call.graph.extents(extents)},
                                      {{"axis", axis}}, types.size());
  std::vector<Value> parts;
  for (std::size_t k = 0; k < names.size(); ++k) parts.push_back(tensor_value(names[k], types[k]));
  return fields_value(std::move(parts), call.type);
}

// The values and their places, in order.
std::vector<std::string> top(Call& call, const std::string& count, std::int64_t axis) {
  return call.graph.nodes(
      "TopK", {call.in(0), count},
      {{"axis", axis}, {"largest", std::int64_t{!call.attrs->get_bool("is_ascend")}}}, 2);
}

std::vector<std::string> sorted(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  return top(call, call.graph.unsqueeze(call.extent_of(0, axis), {0}), axis);
}

std::string places(Call& call, const std::string& name, const lang::Type& type) {
  const DType dtype = lang::as<lang::TensorType>(type)->dtype.known();
  return dtype == DType::Int64 ? name : cast(call, name, dtype);
}

Value sort(Call& call) { return call.give(sorted(call)[0]); }
Value argsort(Call& call) { return call.give(places(call, sorted(call)[1], call.type)); }

Value top_k(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  const std::int64_t count = call.attrs->get_int("k");
  const auto both = count < 1 ? sorted(call) : top(call, call.graph.integers({count}), axis);
  const std::string& wanted = call.attrs->get_string("ret_type");
  if (wanted == "values") return call.give(both[0]);
  if (wanted == "indices") return call.give(places(call, both[1], call.type));
  const auto* tuple = lang::as<lang::TupleType>(call.type);
  return fields_value({tensor_value(both[0], tuple->fields[0]),
                       tensor_value(places(call, both[1], tuple->fields[1]), tuple->fields[1])},
                      call.type);
}

constexpr auto kJoins = std::to_array<Operator>({
    {"argsort", &argsort, "`TopK`, `Cast`"},
    {"concatenate", &concatenated, "`Concat`"},
    {"sort", &sort, "`TopK`"},
    {"split", &split, "`Split`"},
    {"stack", &stacked, "`Unsqueeze`, `Concat`"},
    {"topk", &top_k, "`TopK`, `Cast`"},
});

}  // namespace

std::span<const Operator> join_operators() { return kJoins; }

}  // namespace relay::models::exporter
