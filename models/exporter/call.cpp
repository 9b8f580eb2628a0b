#include "models/exporter/call.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/onnx/write_model.h"

namespace relay::models::exporter {

void Call::unsupported(const std::string& what) const {
  lang::fail(lang::DiagnosticKind::Unsupported,
             fmt::format("not supported in ONNX: `{}` {}", op.name, what));
}

const lang::TensorType& Call::result() const {
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) unsupported("with this result");
  return *tensor;
}

std::int64_t Call::number(const lang::Dim& dim, std::string_view of) const {
  if (!dim.is_constant())
    unsupported(fmt::format("whose {} is `{}` and no number", of, dim.to_string()));
  return dim.constant();
}

Value Call::give(std::string name) const {
  Value value = tensor_value(std::move(name), type);
  value.depth = depth;
  value.full = full;
  return value;
}

Value Call::give_node(std::string_view name, Attributes attributes) {
  std::vector<std::string> inputs;
  for (Value& each : args) inputs.push_back(graph.name_of(each));
  return give(node(name, std::move(inputs), std::move(attributes)));
}

std::string Call::extent_of(std::size_t k, std::int64_t axis) {
  const lang::Dim& dim = dims(k)[static_cast<std::size_t>(axis)];
  if (!dim.is_any()) return graph.extent(dim);
  const std::string place = graph.scalar(static_cast<double>(axis), lang::DType::Int64);
  return node("Gather", {node("Shape", {in(k)}), place}, {{"axis", std::int64_t{0}}});
}

std::int64_t Call::axis(std::string_view key, std::size_t rank) const {
  const std::int64_t axis = attrs->get_int(key);
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

std::vector<std::int64_t> Call::reduced_axes() const {
  const auto rank = static_cast<std::int64_t>(args[0].rank());
  std::vector<std::int64_t> axes;
  if (!attrs->is_null("axis")) {
    for (const std::int64_t each : attrs->get_ints("axis"))
      axes.push_back(each < 0 ? each + rank : each);
  }
  const bool is_all = axes.empty();  // whatever `exclude` says
  const bool excludes = attrs->get_bool("exclude");
  std::vector<std::int64_t> result;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const bool is_named = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (is_all || is_named != excludes) result.push_back(axis);
  }
  return result;
}

std::string cast(Call& call, const std::string& name, lang::DType to) {
  return call.node("Cast", {name}, {{"to", onnx::number_of(to)}});
}

std::string reshape(GraphWriter& graph, const std::string& name, const std::vector<lang::Dim>& from,
                    const std::vector<lang::Dim>& to) {
  if (from == to) return name;
  // 0 is the extent that the axis has, and -1 what is left over, once.
  std::vector<std::int64_t> codes;
  bool has_rest = false;
  bool are_codes = true;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const bool stays = axis < from.size() && from[axis] == to[axis] && !to[axis].is_any();
    if (to[axis].is_constant()) {
      codes.push_back(to[axis].constant());
      // Of an extent of 0 nothing can be left over.
      are_codes = are_codes && (codes.back() != 0 || stays);
    } else if (stays) {
      codes.push_back(0);
    } else {
      are_codes = are_codes && !has_rest;
      has_rest = true;
      codes.push_back(-1);
    }
  }
  return graph.node("Reshape", {name, are_codes ? graph.integers(codes) : graph.extents(to)});
}

std::string transpose(GraphWriter& graph, const std::string& name,
                      const std::vector<std::int64_t>& axes) {
  return std::is_sorted(axes.begin(), axes.end())
             ? name
             : graph.node("Transpose", {name}, {{"perm", axes}});
}

std::string slice(GraphWriter& graph, const std::string& name, const std::string& begins,
                  const std::string& ends, const std::vector<std::int64_t>& axes,
                  const std::vector<std::int64_t>& steps) {
  const bool has_steps =
      std::any_of(steps.begin(), steps.end(), [](auto step) { return step != 1; });
  return graph.node("Slice", {name, begins, ends, graph.integers(axes),
                              has_steps ? graph.integers(steps) : std::string()});
}

}  // namespace relay::models::exporter
