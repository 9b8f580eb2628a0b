#include "stdlib/ops/window.h"

#include <algorithm>
#include <optional>

#include "stdlib/ops/attr_range.h"

namespace relay::stdlib {

namespace build = lang::build;

// --- Layouts ---

std::string_view spatial_letters(std::size_t count) {
  return count == 1 ? "W" : count == 2 ? "HW" : "DHW";
}

namespace {

struct LayoutAxis {
  char letter;
  std::int64_t block;  // of a small letter: the number in front of it
};

// Nothing for a text that is no layout.
std::optional<std::vector<LayoutAxis>> axes_of(const std::string& letters) {
  std::vector<LayoutAxis> axes;
  std::int64_t number = 0;
  for (const char c : letters) {
    if (c >= '0' && c <= '9') {
      if (number > 100'000'000) return std::nullopt;
      number = 10 * number + (c - '0');
      continue;
    }
    const bool is_small = c >= 'a' && c <= 'z';
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_small ? number == 0 : (number != 0 || !is_capital)) return std::nullopt;
    for (const LayoutAxis& known : axes) {
      if (known.letter == c) return std::nullopt;
    }
    axes.push_back({c, number});
    number = 0;
  }
  if (number != 0) return std::nullopt;
  return axes;
}

// Outputs and inputs of a kernel by the letters of batch and channels, or the other way round.
std::string named_as(std::string letters, std::string_view lead) {
  const std::string_view from = lead == "NC" ? "OIoi" : "NCnc";
  const std::string_view to = lead == "NC" ? "NCnc" : "OIoi";
  for (char& letter : letters) {
    const std::size_t found = from.find(letter);
    if (found != std::string_view::npos) letter = to[found];
  }
  return letters;
}

constexpr std::size_t kNowhere = std::string::npos;

std::size_t find_axis(const std::vector<LayoutAxis>& axes, char letter) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].letter == letter) return i;
  }
  return kNowhere;
}

}  // namespace

AxisLayout known_layout(const std::string& letters, std::string_view lead,
                        std::string_view spatial) {
  const std::vector<LayoutAxis> axes = axes_of(named_as(letters, lead)).value();
  AxisLayout layout;
  layout.letters = letters;
  layout.rank = axes.size();
  for (const char letter : lead) {
    AxisLayout::Lead found;
    found.axis = find_axis(axes, letter);
    const std::size_t inner = find_axis(axes, static_cast<char>(letter - 'A' + 'a'));
    if (inner != kNowhere) {
      found.inner = inner;
      found.block = axes[inner].block;
    }
    layout.lead.push_back(found);
  }
  for (const char letter : spatial) layout.spatial.push_back(find_axis(axes, letter));
  return layout;
}

AxisLayout layout_of(const TypeCall& call, std::string_view key, std::string_view lead,
                     std::string_view spatial) {
  const std::string& letters = call.attrs->get_string(key);
  const auto axes = axes_of(named_as(letters, lead));
  bool fits = axes.has_value();
  std::size_t count = 0;
  for (const char letter : std::string(lead) + std::string(spatial)) {
    fits = fits && find_axis(*axes, letter) != kNowhere;
    ++count;
  }
  for (const char letter : lead) {
    if (fits && find_axis(*axes, static_cast<char>(letter - 'A' + 'a')) != kNowhere) ++count;
  }
  if (!fits || count != axes->size()) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`" + std::string(key) + "` is `" + letters + "`, which does not have the axes `" +
                   std::string(lead) + std::string(spatial) + "`",
               call.span);
  }
  return known_layout(letters, lead, spatial);
}

Expr lead_index(const AxisLayout& layout, const Indices& indices, std::size_t which) {
  const AxisLayout::Lead& lead = layout.lead[which];
  if (lead.block == 0) return indices[lead.axis];
  return build::add(build::mul(indices[lead.axis], build::index_constant(lead.block)),
                    indices[lead.inner]);
}

Dim lead_extent(const AxisLayout& layout, const std::vector<Dim>& dims, std::size_t which) {
  const AxisLayout::Lead& lead = layout.lead[which];
  return lead.block == 0 ? dims[lead.axis] : dims[lead.axis] * Dim(lead.block);
}

Indices in_layout(const AxisLayout& layout, const Expr& first, const Expr& second,
                  const Indices& spatial) {
  Indices indices(layout.rank);
  const auto put = [&](const AxisLayout::Lead& lead, const Expr& index) {
    if (lead.block == 0) {
      indices[lead.axis] = index;
      return;
    }
    const Expr block = build::index_constant(lead.block);
    indices[lead.axis] = build::prim(Prim::FloorDiv, {index, block});
    indices[lead.inner] = build::prim(Prim::FloorMod, {index, block});
  };
  put(layout.lead[0], first);
  put(layout.lead[1], second);
  for (std::size_t i = 0; i < spatial.size(); ++i) indices[layout.spatial[i]] = spatial[i];
  return indices;
}

std::vector<Dim> dims_in_layout(const AxisLayout& layout, const Dim& first, const Dim& second,
                                const std::vector<Dim>& spatial) {
  std::vector<Dim> dims(layout.rank);
  const auto put = [&](const AxisLayout::Lead& lead, const Dim& extent) {
    dims[lead.axis] = lead.block == 0 ? extent : Dim::floor_div(extent, Dim(lead.block));
    if (lead.block != 0) dims[lead.inner] = Dim(lead.block);
  };
  put(layout.lead[0], first);
  put(layout.lead[1], second);
  for (std::size_t i = 0; i < spatial.size(); ++i) dims[layout.spatial[i]] = spatial[i];
  return dims;
}

// --- Attributes ---

std::vector<std::int64_t> per_axis(const AttrsRef& attrs, std::string_view key, std::size_t count) {
  std::vector<std::int64_t> values = attrs->get_ints(key);
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

bool Padding::is_zero() const {
  const auto zero = [](std::int64_t value) { return value == 0; };
  return std::all_of(front.begin(), front.end(), zero) &&
         std::all_of(back.begin(), back.end(), zero);
}

Padding padding_of(const AttrsRef& attrs, std::size_t count) {
  const std::vector<std::int64_t> values = attrs->get_ints("padding");
  Padding padding;
  for (std::size_t i = 0; i < count; ++i) {
    padding.front.push_back(values.size() == 1 ? values[0] : values[i]);
    padding.back.push_back(values.size() == 2 * count ? values[count + i] : padding.front.back());
  }
  return padding;
}

namespace {

void check_list(const TypeCall& call, std::string_view key, std::size_t count, std::int64_t least,
                bool both_ends) {
  const AttrValue* value = call.attrs->find(key);
  if (!value || value->is_null()) return;
  const std::vector<std::int64_t> values = call.attrs->get_ints(key);
  const bool fits =
      values.size() == 1 || values.size() == count || (both_ends && values.size() == 2 * count);
  if (!fits) {
    lang::fail(DiagnosticKind::BadAttribute,
               "`" + std::string(key) + "` has " + std::to_string(values.size()) + " values for " +
                   std::to_string(count) + " spatial axes",
               call.span);
  }
  for (const std::int64_t number : values) {
    if (number >= least && number <= kLargestCount) continue;
    lang::fail(DiagnosticKind::BadAttribute,
               "`" + std::string(key) + "` must be at " +
                   (number < least ? "least " + std::to_string(least)
                                   : "most " + std::to_string(kLargestCount)) +
                   ", found " + std::to_string(number),
               call.span);
  }
}

}  // namespace

void check_window(const TypeCall& call, std::size_t count) {
  check_list(call, "strides", count, 1, false);
  check_list(call, "dilation", count, 1, false);
  check_list(call, "pool_size", count, 1, false);
  check_list(call, "kernel_size", count, 1, false);
  check_list(call, "output_padding", count, 0, false);
  check_list(call, "padding", count, 0, true);
}

// --- Geometry ---

Dim window_places(const TypeCall& call, const Dim& extent, const Dim& kernel, std::int64_t front,
                  std::int64_t back, std::int64_t stride, std::int64_t dilation, bool ceil_mode) {
  const Dim reach = Dim(dilation) * (kernel - Dim(1)) + Dim(1);
  const Dim room = extent + Dim(front + back);
  if (room.is_constant() && reach.is_constant() && room.constant() < reach.constant()) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "a window of extent " + reach.to_string() + " does not fit an axis of extent " +
                  extent.to_string() +
                  (front + back > 0 ? " padded to " + room.to_string() : std::string()));
  }
  const Dim steps = room - reach + Dim(ceil_mode ? stride - 1 : 0);
  return Dim::floor_div(steps, Dim(stride)) + Dim(1);
}

Expr extent_expr(const Dim& dim) {
  return dim.is_constant() ? build::index_constant(dim.constant()) : lang::make_dim_term(dim);
}

Expr padded_around(const Expr& data, const AxisLayout& layout, const Padding& padding,
                   const Expr& value) {
  if (padding.is_zero()) return data;
  std::vector<AttrValue> widths(layout.rank, AttrValue::ints({0, 0}));
  for (std::size_t i = 0; i < layout.spatial.size(); ++i)
    widths[layout.spatial[i]] = AttrValue::ints({padding.front[i], padding.back[i]});
  return build::op("nn.pad", {data, value}, {{"pad_width", AttrValue(AttrValue::List(widths))}});
}

Expr reduce_over(ReduceOp op, const std::vector<Expr>& extents,
                 const std::function<Expr(const Indices&)>& body) {
  std::vector<lang::IndexBinder> binders;
  Indices indices;
  for (const Expr& extent : extents) {
    const lang::VariableRef variable = lang::make_variable("k", lang::scalar_type(DType::Int64));
    binders.push_back({variable, extent});
    indices.push_back(lang::make_var(variable));
  }
  Expr element = body(indices);
  const bool gives_index = op == ReduceOp::ArgMax || op == ReduceOp::ArgMin;
  Type type = gives_index ? lang::scalar_type(DType::Int64) : element->type;
  return lang::make_reduction(op, std::move(binders), std::move(element), {}, std::move(type));
}

Expr lead_extent_expr(const AxisLayout& layout, const Expr& tensor, std::size_t which) {
  const AxisLayout::Lead& lead = layout.lead[which];
  const Expr extent = extent_of(tensor, lead.axis);
  return lead.block == 0 ? extent : build::mul(extent, build::index_constant(lead.block));
}

namespace {

Expr times(const Expr& factor, std::int64_t by) {
  return by == 1 ? factor : build::mul(factor, build::index_constant(by));
}

}  // namespace

Expr window_index(const Expr& index, std::int64_t stride, const Expr& tap, std::int64_t dilation) {
  return build::add(times(index, stride), times(tap, dilation));
}

Expr read_place(const Expr& places, const AxisLayout& layout, const Expr& batch,
                const Expr& channel, const Indices& position, const Indices& taps,
                const WindowSteps& steps) {
  Indices spatial;
  Expr fits;
  const auto require = [&](Prim prim, const Expr& a, const Expr& b) {
    const Expr condition = build::prim(prim, {a, b});
    fits = fits ? build::prim(Prim::And, {fits, condition}) : condition;
  };
  for (std::size_t i = 0; i < position.size(); ++i) {
    const Expr zero = build::index_constant(0);
    const Expr extent = extent_of(places, layout.spatial[i]);
    const Expr start = build::sub(build::add(position[i], build::index_constant(steps.front[i])),
                                  times(taps[i], steps.dilation[i]));
    Expr place = start;
    if (steps.stride[i] != 1) {
      const Expr stride = build::index_constant(steps.stride[i]);
      place = build::prim(Prim::FloorDiv, {start, stride});
      require(Prim::Eq, build::prim(Prim::FloorMod, {start, stride}), zero);
    }
    require(Prim::Ge, place, zero);
    require(Prim::Lt, place, extent);
    // `select` evaluates both sides.
    const Expr above = build::prim(Prim::Max, {place, zero});
    spatial.push_back(
        build::prim(Prim::Min, {above, build::sub(extent, build::index_constant(1))}));
  }
  const Expr read = build::at(places, in_layout(layout, batch, channel, spatial));
  return build::select(fits, read, build::constant(tensor_type_of(places).dtype.known(), 0));
}

}  // namespace relay::stdlib
