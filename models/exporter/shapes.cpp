// Other shapes of the same elements.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "models/exporter/operators.h"
#include "models/onnx/write_model.h"

namespace relay::models::exporter {

namespace {

using lang::DType;
using Ints = std::vector<std::int64_t>;

Value reshaped(Call& call) {
  return call.give(reshape(call.graph, call.in(0), call.dims(), call.result().shape.dims()));
}

Value transposed(Call& call) {
  const auto rank = static_cast<std::int64_t>(call.rank(0));
  Ints axes;
  if (call.attrs->is_null("axes") || call.attrs->get_ints("axes").empty()) {
    for (std::int64_t k = rank; k > 0; --k) axes.push_back(k - 1);
  } else {
    for (const std::int64_t axis : call.attrs->get_ints("axes"))
      axes.push_back(axis < 0 ? axis + rank : axis);
  }
  return call.give(transpose(call.graph, call.in(0), axes));
}

Value expanded(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0) + 1);
  Ints axes;
  for (std::int64_t k = 0; k < call.attrs->get_int("num_newaxis"); ++k) axes.push_back(axis + k);
  return call.give(call.graph.unsqueeze(call.in(0), axes));
}

Value squeezed(Call& call) {
  const auto rank = static_cast<std::int64_t>(call.rank(0));
  Ints axes;
  if (call.attrs->is_null("axis")) {
    for (std::int64_t k = 0; k < rank; ++k) {
      if (call.dims()[static_cast<std::size_t>(k)].is_constant(1)) axes.push_back(k);
    }
  } else {
    for (const std::int64_t axis : call.attrs->get_ints("axis"))
      axes.push_back(axis < 0 ? axis + rank : axis);
  }
  return call.give(call.graph.squeeze(call.in(0), axes));
}

Value broadcast(Call& call) {
  const auto& dims = call.result().shape.dims();
  if (dims == call.dims()) return call.arg(0);
  return call.give(call.node("Expand", {call.in(0), call.graph.extents(dims)}));
}

Value tiled(Call& call) {
  Ints counts = call.attrs->get_ints("reps");
  std::string name = call.in(0);
  if (counts.size() < call.rank(0)) counts.insert(counts.begin(), call.rank(0) - counts.size(), 1);
  Ints front(counts.size() - call.rank(0));
  std::iota(front.begin(), front.end(), 0);
  name = call.graph.unsqueeze(name, front);
  return call.give(call.node("Tile", {name, call.graph.integers(counts)}));
}

// Each slice becomes several on an axis of their own, which is joined with the old one.
Value repeated(Call& call) {
  const std::int64_t count = call.attrs->get_int("repeats");
  std::string name = call.in(0);
  std::size_t rank = call.rank(0);
  std::int64_t axis = 0;
  if (call.attrs->is_null("axis")) {
    name = call.node("Reshape", {name, call.graph.integers({-1})});
    rank = 1;
  } else {
    axis = call.axis("axis", rank);
  }
  name = call.graph.unsqueeze(name, {axis + 1});
  Ints counts(rank + 1, 1);
  counts[static_cast<std::size_t>(axis) + 1] = count;
  name = call.node("Tile", {name, call.graph.integers(counts)});
  Ints codes(rank, 0);
  codes[static_cast<std::size_t>(axis)] = -1;
  // Behind the axes that are joined, what 0 copies is one place off.
  for (std::size_t k = static_cast<std::size_t>(axis) + 1; k < rank; ++k) {
    const lang::Dim& dim = call.result().shape[k];
    if (!dim.is_constant())
      return call.give(
          call.node("Reshape", {name, call.graph.extents(call.result().shape.dims())}));
    codes[k] = dim.constant();
  }
  return call.give(call.node("Reshape", {name, call.graph.integers(codes)}));
}

Value reversed(Call& call) {
  const std::size_t rank = call.rank(0);
  Ints axes;
  if (call.attrs->is_null("axis")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes.push_back(call.axis("axis", rank));
  }
  const Ints begins(axes.size(), -1);
  const Ints ends(axes.size(), std::numeric_limits<std::int64_t>::min());
  return call.give(slice(call.graph, call.in(0), call.graph.integers(begins),
                         call.graph.integers(ends), axes, Ints(axes.size(), -1)));
}

Value strided_slice(Call& call) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  Ints begins = call.attrs->get_ints("begin");
  Ints ends = call.attrs->get_ints("end");
  const bool has_sizes = call.attrs->get_string("slice_mode") == "size";
  Ints steps;
  if (!has_sizes && !call.attrs->is_null("strides")) steps = call.attrs->get_ints("strides");
  Ints axes;
  if (call.attrs->is_null("axes")) {
    axes.resize(std::max(begins.size(), ends.size()));
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes = call.attrs->get_ints("axes");
  }
  const std::size_t written = std::min(begins.size(), ends.size());
  begins.resize(axes.size(), 0);
  steps.resize(axes.size(), 1);
  ends.resize(axes.size(), has_sizes ? -1 : kAll);
  for (std::size_t k = 0; has_sizes && k < axes.size(); ++k)
    ends[k] =
        ends[k] < 0 || (begins[k] < 0 && begins[k] + ends[k] >= 0) ? kAll : begins[k] + ends[k];
  for (std::size_t k = written; k < axes.size(); ++k) {
    if (steps[k] < 0) call.unsupported("backwards without both bounds");
  }
  return call.give(slice(call.graph, call.in(0), call.graph.integers(begins),
                         call.graph.integers(ends), axes, steps));
}

std::string integers_of(Call& call, std::size_t k) {
  return call.dtype(k) == DType::Int64 ? call.in(k) : cast(call, call.in(k), DType::Int64);
}

Value dynamic_slice(Call& call) {
  if (call.attrs->get_string("slice_mode") != "end") call.unsupported("with sizes");
  Ints axes;
  if (call.attrs->is_null("axes")) {
    axes.resize(static_cast<std::size_t>(call.number(call.dims(1).at(0), "number of bounds")));
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes = call.attrs->get_ints("axes");
  }
  return call.give(call.node("Slice", {call.in(0), integers_of(call, 1), integers_of(call, 2),
                                       call.graph.integers(axes), integers_of(call, 3)}));
}

template <auto& kNode>
Value by_shape(Call& call) {
  return call.give(call.node(kNode, {call.in(0), integers_of(call, 1)}));
}
constexpr char kExpandName[] = "Expand";
constexpr char kTile[] = "Tile";
constexpr char kReshape[] = "Reshape";

std::string as_result(Call& call, const std::string& name) {
  const DType dtype = call.result().dtype.known();
  return dtype == DType::Int64 ? name : cast(call, name, dtype);
}

Value shape_of(Call& call) { return call.give(as_result(call, call.node("Shape", {call.in(0)}))); }
Value size_of(Call& call) { return call.give(as_result(call, call.node("Size", {call.in(0)}))); }

Value pad(Call& call) {
  const std::string& mode = call.op.name == "nn.mirror_pad" ? call.attrs->get_string("mode")
                                                            : call.attrs->get_string("pad_mode");
  if (mode == "SYMMETRIC") call.unsupported("with the mode \"SYMMETRIC\"");
  Ints fronts;
  Ints backs;
  for (const lang::AttrValue& axis : *call.attrs->find("pad_width")->as_list()) {
    const auto& pair = *axis.as_list();
    fronts.push_back(*pair.at(0).as_int());
    backs.push_back(*pair.at(1).as_int());
  }
  fronts.insert(fronts.end(), backs.begin(), backs.end());
  const bool is_nothing = std::all_of(fronts.begin(), fronts.end(), [](auto n) { return n == 0; });
  if (is_nothing) return call.arg(0);
  const bool has_value = mode == "constant" && call.args.size() > 1;
  return call.give(call.node(
      "Pad", {call.in(0), call.graph.integers(fronts), has_value ? call.in(1) : std::string()},
      {{"mode", mode == "REFLECT" ? std::string("reflect") : mode}}));
}

constexpr std::string_view kReshapeNode = "`Reshape`";

constexpr auto kShapes = std::to_array<Operator>({
    {"broadcast_to", &broadcast, "`Expand`"},
    {"broadcast_to_like", &broadcast, "`Expand`"},
    {"contrib_reverse_reshape", &reshaped, kReshapeNode},
    {"dyn.broadcast_to", &by_shape<kExpandName>, "`Expand`"},
    {"dyn.reshape", &by_shape<kReshape>, kReshapeNode, "with the codes 0 and -1"},
    {"dyn.strided_slice", &dynamic_slice, "`Slice`"},
    {"dyn.tile", &by_shape<kTile>, "`Tile`", "a count for each axis"},
    {"expand_dims", &expanded, "`Unsqueeze`"},
    {"ndarray_size", &size_of, "`Size`, `Cast`"},
    {"nn.batch_flatten", &reshaped, kReshapeNode},
    {"nn.mirror_pad", &pad, "`Pad`", "`REFLECT`; `SYMMETRIC` by its places"},
    {"nn.pad", &pad, "`Pad`"},
    {"repeat", &repeated, "`Unsqueeze`, `Tile`, `Reshape`"},
    {"reshape", &reshaped, kReshapeNode},
    {"reshape_like", &reshaped, kReshapeNode},
    {"reverse", &reversed, "`Slice`"},
    {"shape_of", &shape_of, "`Shape`, `Cast`"},
    {"squeeze", &squeezed, "`Squeeze`"},
    {"strided_slice", &strided_slice, "`Slice`"},
    {"tile", &tiled, "`Tile`"},
    {"transpose", &transposed, "`Transpose`"},
});

}  // namespace

std::span<const Operator> shape_operators() { return kShapes; }

}  // namespace relay::models::exporter
