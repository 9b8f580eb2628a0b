// Operators that read and write at places that are values.
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;

// An extent that is picked out of a shape.
bool give_picked(Call& call, std::size_t axis) {
  const Value& value = call.in(0);
  const auto places = integers_of(call.in(1));
  if (!value.elements || value.constant || !places || axis != 0) return false;
  const auto count = static_cast<std::int64_t>(value.elements->size());
  std::vector<Dim> elements;
  for (std::int64_t place : *places) {
    if (place < 0) place += count;
    if (place < 0 || place >= count) call.bad(fmt::format("place {} of {}", place, count));
    elements.push_back((*value.elements)[static_cast<std::size_t>(place)]);
  }
  call.give(
      elements_value(call.output_name(0), std::move(elements), call.rank(1) == 0, value.dtype()));
  return true;
}

void gather(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  if (give_picked(call, axis)) return;
  const Dim& extent = call.in(0).dims()[axis];
  std::string places;
  std::string mode = ", mode=\"wrap\"";  // negative places count from the end
  if (auto known = integers_of(call.in(1)); known && extent.is_constant()) {
    for (std::int64_t& place : *known) {
      if (place < 0) place += extent.constant();
      if (place < 0 || place >= extent.constant())
        call.bad(fmt::format("place {} of {}", place, extent.constant()));
    }
    mode.clear();
    if (call.rank(1) == 0)
      places = fmt::format("{}", (*known)[0]);
    else if (known->size() <= 16 && !known->empty())
      places = list_text(*known);
  }
  if (places.empty()) {
    places = call.text(1);
    mode = ", mode=\"wrap\"";
  }
  call.give(fmt::format("take({}, {}, axis={}{})", call.text(0), places, axis, mode));
}

void gather_elements(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  call.give(fmt::format("gather({}, {}, axis={})", call.text(0), call.text(1), axis));
}

// ONNX has the coordinates along the last axis, the language along the first.
std::string coordinates(const Call& call, std::size_t k) {
  const std::size_t rank = call.rank(k);
  if (rank < 2) return call.text(k);
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), -1);
  axes[0] = static_cast<std::int64_t>(rank) - 1;
  return fmt::format("transpose({}, axes={})", call.text(k), list_text(axes));
}

void gather_nd(Call& call) {
  const std::int64_t batch = call.integer("batch_dims", 0);
  call.give(fmt::format("gather_nd({}, {}{})", call.text(0), coordinates(call, 1),
                        batch != 0 ? fmt::format(", batch_dims={}", batch) : ""));
}

std::string scatter_mode(const Call& call) {
  const std::string mode = call.string("reduction", "none");
  if (mode == "none") return "update";
  if (mode != "add" && mode != "mul" && mode != "min" && mode != "max")
    call.bad(fmt::format("the reduction `{}`", mode));
  return mode;
}

void scatter_elements(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const std::string mode = scatter_mode(call);
  call.give(fmt::format("scatter_elements({}, {}, {}, axis={}{})", call.text(0), call.text(1),
                        call.text(2), axis,
                        mode == "update" ? "" : fmt::format(", reduction=\"{}\"", mode)));
}

void scatter_nd(Call& call) {
  const std::string mode = scatter_mode(call);
  call.give(fmt::format("scatter_nd({}, {}, {}{})", call.text(0), coordinates(call, 1),
                        call.text(2), mode == "update" ? "" : fmt::format(", mode=\"{}\"", mode)));
}

void one_hot(Call& call) {
  const auto depth = call.known_numbers(1);
  if (depth.size() != 1 || !(depth[0] >= 1 && depth[0] < 1e9)) call.bad("`depth` is no extent");
  const auto count = static_cast<std::int64_t>(depth[0]);
  const std::int64_t axis = call.integer("axis", -1);
  std::string on, off;
  if (const auto values = numbers_of(call.in(2)); values && values->size() == 2) {
    off = call.like(2, (*values)[0]);
    on = call.like(2, (*values)[1]);
  } else {
    off = call.text(2) + "[0]";
    on = call.text(2) + "[1]";
  }
  std::string places = call.text(0);
  if (lang::is_float(call.in(0).dtype())) places = fmt::format("cast({}, dtype=\"int64\")", places);
  const Value index = call.let("places", places);
  // Negative places count from the end.
  const bool is_unsigned = lang::is_unsigned_int(index.dtype());
  places = is_unsigned ? index.text
                       : fmt::format("where({0} < {1}, {0} + {2}, {0})", index.text,
                                     literal(0, index.dtype()),
                                     literal(static_cast<double>(count), index.dtype()));
  call.give(fmt::format("one_hot({}, {}, {}, depth={}, axis={}, dtype={})", places, on, off, count,
                        axis, dtype_text(call.in(2).dtype())));
}

void top_k(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", -1), call.rank(0));
  std::int64_t k = call.integer("k", 0);
  if (call.has(1)) {
    const auto known = call.known(1);
    if (known.size() != 1) call.bad("`k` is not one number");
    k = known[0];
  }
  if (k < 1) call.unsupported(fmt::format("the {} largest", k));
  call.give_fields(fmt::format("topk({}, k={}, axis={}{}, dtype=\"int64\")", call.text(0), k, axis,
                               call.integer("largest", 1) != 0 ? "" : ", is_ascend=True"));
}

void compress(Call& call) {
  const auto* axis = call.node.find<std::int64_t>("axis");
  const std::string places = fmt::format("argwhere({})[:, 0]", call.text(1));
  if (!axis)
    return call.give(
        fmt::format("take(reshape({}, newshape=[-1]), {}, axis=0)", call.text(0), places));
  call.give(
      fmt::format("take({}, {}, axis={})", call.text(0), places, call.axis(*axis, call.rank(0))));
}

void unique(Call& call) {
  if (call.node.find<std::int64_t>("axis") && call.rank(0) != 1)
    call.unsupported("the distinct slices along an axis");
  const bool sorted = call.integer("sorted", 1) != 0;
  const std::string flat =
      call.rank(0) == 1 ? call.text(0) : fmt::format("reshape({}, newshape=[-1])", call.text(0));
  const Value found = call.let("distinct", fmt::format("unique({}{}, return_counts=True)", flat,
                                                       sorted ? "" : ", sorted=False"));
  const Value count = call.let("count", fmt::format("cast({}.3[0], dtype=\"int64\")", found.text));
  const auto part = [&](int field, bool is_index) {
    const std::string text = fmt::format("{}.{}[0:{}]", found.text, field, count.text);
    return is_index ? fmt::format("cast({}, dtype=\"int64\")", text) : text;
  };
  call.give(part(0, false));
  if (call.wants(1) || call.wants(2) || call.wants(3)) call.give(part(1, true));
  if (call.wants(2) || call.wants(3))
    call.give(fmt::format("cast({}.2, dtype=\"int64\")", found.text));
  if (call.wants(3)) call.give(part(4, true));
}

std::string number_or(Call& call, std::size_t k, std::string_view otherwise) {
  if (!call.has(k)) return std::string(otherwise);
  return call.rank(k) == 0 ? call.text(k) : fmt::format("{}[0]", call.text(k));
}

void non_max_suppression(Call& call) {
  std::string boxes = call.text(0);
  if (call.integer("center_point_box", 0) != 0) {
    boxes = call.let("corners", fmt::format("for i, j, k < 4 {{ {0}[i, j, 1 - k % 2] + (if k < 2 "
                                            "{{ -0.5 }} else {{ 0.5 }}) * {0}[i, j, 3 - k % 2] }}",
                                            boxes))
                .text;
  }
  const Value chosen =
      call.let("chosen", fmt::format("vision.all_class_non_max_suppression({}, {}, {}, {}, {})",
                                     boxes, call.text(1), number_or(call, 2, "0i64"),
                                     number_or(call, 3, "0.0"), number_or(call, 4, "-inf")));
  const Value count = call.let("count", fmt::format("{}.1[0]", chosen.text));
  call.give(fmt::format("cast({}.0[0:{}], dtype=\"int64\")", chosen.text, count.text));
}

constexpr auto kIndexingOperators = std::to_array<Operator>({
    {"Gather", &gather, "computed places out of range wrap around"},
    {"GatherElements", &gather_elements, ""},
    {"GatherND", &gather_nd, ""},
    {"ScatterElements", &scatter_elements, ""},
    {"Scatter", &scatter_elements, ""},
    {"ScatterND", &scatter_nd, ""},
    {"OneHot", &one_hot, "depth known"},
    {"TopK", &top_k, "k known; sorted"},
    {"Compress", &compress, ""},
    {"Unique", &unique, "not along an axis of several"},
    {"NonMaxSuppression", &non_max_suppression, ""},
});

}  // namespace

std::span<const Operator> indexing_operators() { return kIndexingOperators; }

}  // namespace relay::models::onnx
