// The axes that tensors have for the indices around them.
#include <algorithm>

#include "models/exporter/exporter.h"

namespace relay::models::exporter {

Value Exporter::lane(std::size_t lane) {
  auto& known = lanes_[lane].numbers;
  if (known) return *known;
  const lang::DType dtype = lang::DType::Int64;
  const std::string numbers = graph_.node(
      "Range",
      {graph_.scalar(0, dtype), graph_.extent(lanes_[lane].extent), graph_.scalar(1, dtype)});
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < lane; ++k) axes.push_back(static_cast<std::int64_t>(k));
  Value value =
      tensor_value(graph_.unsqueeze(numbers, axes), lang::scalar_type(lang::DType::Int64));
  value.depth = lane + 1;
  value.full.assign(lane + 1, false);
  value.full.back() = true;
  value.affine = Affine{lane, 1, 0};
  known = value;
  return value;
}

void Exporter::materialise(Value& value) {
  const bool is_index = value.is_tensor() && value.name.empty() && !value.constant;
  if (is_index) value = lane(value.affine.value().lane.value());
}

void Exporter::lift(Value& value, std::size_t depth) {
  if (value.depth >= depth) return;
  materialise(value);
  std::vector<std::int64_t> axes;
  for (std::size_t k = value.depth; k < depth; ++k) axes.push_back(static_cast<std::int64_t>(k));
  value.name = graph_.unsqueeze(graph_.name_of(value), axes);
  value.constant = nullptr;
  value.depth = depth;
  value.full.resize(depth, false);
}

void Exporter::widen(Value& value, std::size_t first, std::size_t last) {
  materialise(value);
  std::vector<lang::Dim> extents;
  bool is_wide = true;
  for (std::size_t k = 0; k < value.depth; ++k) {
    const bool is_missing = k >= first && k < last && !value.full[k];
    is_wide = is_wide && !is_missing;
    extents.emplace_back(is_missing ? lanes_[k].extent : lang::Dim(1));
    if (is_missing) value.full[k] = true;
  }
  if (is_wide) return;
  extents.insert(extents.end(), value.rank(), lang::Dim(1));
  value.name = graph_.node("Expand", {graph_.name_of(value), graph_.extents(extents)});
  value.constant = nullptr;
}

std::vector<bool> Exporter::align(std::vector<Value>& values) {
  std::size_t depth = 0;
  std::size_t rank = 0;
  for (const Value& each : values) {
    depth = std::max(depth, each.depth);
    rank = std::max(rank, each.rank());
  }
  std::vector<bool> full(depth, false);
  for (Value& each : values) {
    for (std::size_t k = 0; k < each.depth; ++k) full[k] = full[k] || each.full[k];
    // Lanes stand in front, axes of its own behind: what is missing is in between. In front of all
    // broadcasting puts it.
    const std::size_t missing = (depth - each.depth) + (rank - each.rank());
    if (each.depth == 0 || missing == 0) continue;
    std::vector<std::int64_t> axes;
    for (std::size_t k = 0; k < missing; ++k)
      axes.push_back(static_cast<std::int64_t>(each.depth + k));
    each.name = graph_.unsqueeze(graph_.name_of(each), axes);
  }
  return full;
}

}  // namespace relay::models::exporter
