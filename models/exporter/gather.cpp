// Elements of tensors inside of index notation, and what is written into tensors.
#include <algorithm>
#include <set>
#include <utility>

#include "models/exporter/exporter.h"

namespace relay::models::exporter {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  lang::fail(lang::DiagnosticKind::Unsupported, "not supported in ONNX: " + what);
}

std::int64_t int_of(std::size_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Value Exporter::index(const lang::Index& code, const lang::Type& type, ScopeRef scope) {
  Value tensor = value_of(code.tensor, scope);
  std::vector<Value> indices;
  bool is_lost = tensor.is_lost();
  for (const lang::Expr& each : code.indices) {
    indices.push_back(value_of(each, scope));
    is_lost = is_lost || indices.back().is_lost();
  }
  if (is_lost) return lost_value();
  materialise(tensor);
  // An element that a choice leaves out may be none.
  if (choices_ > 0) {
    for (std::size_t k = 0; k < indices.size(); ++k)
      indices[k] = clamped(std::move(indices[k]), tensor.dims()[k]);
  }
  if (tensor.has_lanes()) without_lanes(tensor, indices);
  std::vector<Value> moving;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (indices[k].has_lanes()) {
      moving.push_back(indices[k]);
      continue;
    }
    std::vector<lang::Dim> dims = tensor.dims();
    dims.erase(dims.begin() + int_of(moving.size()));
    const std::string name =
        graph_.node("Gather", {graph_.name_of(tensor), graph_.name_of(indices[k])},
                    {{"axis", int_of(moving.size())}});
    tensor = tensor_value(name, lang::tensor_type(lang::Shape(std::move(dims)), tensor.dtype()));
  }
  if (moving.empty()) {
    tensor.type = type;
    tensor.constant = nullptr;
    return tensor;
  }
  return are_slices(tensor, moving) ? sliced(std::move(tensor), moving, type)
                                    : gathered(std::move(tensor), std::move(moving), type);
}

Value Exporter::clamped(Value index, const lang::Dim& extent) {
  const bool is_whole = index.affine && index.affine->lane && index.affine->factor == 1 &&
                        index.affine->offset.is_constant(0) &&
                        lanes_[*index.affine->lane].extent == extent;
  if (is_whole || index.constant) return index;
  materialise(index);
  const lang::DType dtype = index.dtype();
  std::string last = graph_.extent(extent - lang::Dim(1));
  if (dtype != lang::DType::Int64)
    last = graph_.node("Cast", {last}, {{"to", std::int64_t{dtype == lang::DType::Int32 ? 6 : 7}}});
  const std::string above = graph_.node("Max", {graph_.name_of(index), graph_.scalar(0, dtype)});
  index.name = graph_.node("Min", {above, last});
  index.affine.reset();
  return index;
}

void Exporter::without_lanes(Value& tensor, std::vector<Value>& indices) {
  std::vector<std::int64_t> narrow;
  std::vector<lang::Dim> dims;
  std::vector<Value> own;
  for (std::size_t k = 0; k < tensor.depth; ++k) {
    if (!tensor.full[k]) {
      narrow.push_back(int_of(k));
      continue;
    }
    dims.push_back(lanes_[k].extent);
    Value index = tensor_value("", lang::scalar_type(lang::DType::Int64));
    index.affine = Affine{k, 1, 0};
    index.depth = k + 1;
    index.full.assign(k + 1, false);
    index.full.back() = true;
    own.push_back(std::move(index));
  }
  dims.insert(dims.end(), tensor.dims().begin(), tensor.dims().end());
  tensor = tensor_value(graph_.squeeze(graph_.name_of(tensor), narrow),
                        lang::tensor_type(lang::Shape(std::move(dims)), tensor.dtype()));
  indices.insert(indices.begin(), own.begin(), own.end());
}

bool Exporter::are_slices(const Value&, const std::vector<Value>& indices) const {
  std::set<std::size_t> lanes;
  for (const Value& each : indices) {
    if (!each.affine || !each.affine->lane || each.affine->factor < 1) return false;
    if (!lanes.insert(*each.affine->lane).second) return false;
  }
  return true;
}

Value Exporter::sliced(Value tensor, const std::vector<Value>& indices, const lang::Type& type) {
  std::vector<lang::Dim> begins;
  std::vector<lang::Dim> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  std::vector<std::pair<std::size_t, std::int64_t>> order;  // of the lanes, with their axes
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Affine& place = *indices[k].affine;
    const lang::Dim& extent = lanes_[*place.lane].extent;
    order.emplace_back(*place.lane, int_of(k));
    if (place.factor == 1 && place.offset.is_constant(0) && extent == tensor.dims()[k]) continue;
    axes.push_back(int_of(k));
    steps.push_back(place.factor);
    begins.push_back(place.offset);
    ends.push_back(place.offset + (extent - lang::Dim(1)) * lang::Dim(place.factor) + lang::Dim(1));
  }
  std::string name = graph_.name_of(tensor);
  if (!axes.empty())
    name = slice(graph_, name, graph_.extents(begins), graph_.extents(ends), axes, steps);
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> axes_in_order;
  const std::size_t depth = order.back().first + 1;
  std::vector<bool> full(depth, false);
  for (const auto& [lane, axis] : order) {
    axes_in_order.push_back(axis);
    full[lane] = true;
  }
  for (std::size_t k = indices.size(); k < tensor.rank(); ++k) axes_in_order.push_back(int_of(k));
  name = transpose(graph_, name, axes_in_order);
  std::vector<std::int64_t> narrow;
  for (std::size_t k = 0; k < depth; ++k) {
    if (!full[k]) narrow.push_back(int_of(k));
  }
  Value value = tensor_value(graph_.unsqueeze(name, narrow), type);
  value.depth = depth;
  value.full = std::move(full);
  return value;
}

std::string Exporter::places(std::vector<Value> indices, std::size_t lanes) {
  std::vector<std::string> parts;
  for (Value& each : indices) {
    materialise(each);
    lift(each, lanes);
    widen(each, 0, lanes);
    std::string name = graph_.name_of(each);
    if (each.dtype() != lang::DType::Int64)
      name = graph_.node("Cast", {name}, {{"to", std::int64_t{7}}});
    parts.push_back(graph_.unsqueeze(name, {int_of(lanes)}));
  }
  return parts.size() == 1 ? parts[0] : graph_.node("Concat", parts, {{"axis", int_of(lanes)}});
}

Value Exporter::gathered(Value tensor, std::vector<Value> indices, const lang::Type& type) {
  for (Value& each : indices) materialise(each);
  std::string name;
  std::vector<bool> full;
  if (indices.size() == 1) {
    full = indices[0].full;
    name = graph_.node("Gather", {graph_.name_of(tensor), graph_.name_of(indices[0])},
                       {{"axis", std::int64_t{0}}});
  } else {
    std::size_t depth = 0;
    for (const Value& each : indices) depth = std::max(depth, each.depth);
    full.assign(depth, true);
    name = graph_.node("GatherND", {graph_.name_of(tensor), places(std::move(indices), depth)});
  }
  Value value = tensor_value(name, type);
  value.depth = full.size();
  value.full = std::move(full);
  return value;
}

Value Exporter::scatter(const lang::ScatterReduce& code, const lang::Type& type, ScopeRef scope) {
  Value init = value_of(code.init, scope);
  if (!lanes_.empty()) refuse("writing into a tensor inside of index notation");
  const char* const fold = code.op == lang::ReduceOp::Set    ? "none"
                           : code.op == lang::ReduceOp::Sum  ? "add"
                           : code.op == lang::ReduceOp::Prod ? "mul"
                                                             : nullptr;
  if (!fold) refuse("the extremes of what is written into a tensor");
  Scope* const inner = open_indices(code.binders, scope);
  const std::size_t lanes = lanes_.size();
  std::vector<Value> indices;
  bool is_lost = init.is_lost();
  for (const lang::Expr& each : code.indices) {
    indices.push_back(value_of(each, inner));
    is_lost = is_lost || indices.back().is_lost();
  }
  Value value = value_of(code.value, inner);
  if (is_lost || value.is_lost()) {
    close_indices(code.binders.size());
    return lost_value();
  }
  materialise(init);
  // Whole axes at the end are written as they are: `x[t] = row`.
  std::size_t whole = 0;
  while (whole + 1 < indices.size() && whole < lanes) {
    const std::size_t axis = indices.size() - 1 - whole;
    const std::size_t lane = lanes - 1 - whole;
    const auto& place = indices[axis].affine;
    const bool is_whole = place && place->lane == lane && place->factor == 1 &&
                          place->offset.is_constant(0) && lanes_[lane].extent == init.dims()[axis];
    if (!is_whole) break;
    ++whole;
  }
  const auto uses_whole = [&](const Value& each) { return each.depth > lanes - whole; };
  indices.resize(indices.size() - whole);
  if (std::any_of(indices.begin(), indices.end(), uses_whole)) {
    close_indices(code.binders.size());
    refuse("writing into a tensor at places that depend on all indices");
  }
  const std::string where = places(std::move(indices), lanes - whole);
  lift(value, lanes);
  widen(value, 0, lanes);
  const std::string name =
      graph_.node("ScatterND", {graph_.name_of(init), where, graph_.name_of(value)},
                  {{"reduction", std::string(fold)}});
  close_indices(code.binders.size());
  return tensor_value(name, type);
}

}  // namespace relay::models::exporter
