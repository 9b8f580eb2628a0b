// Operators that move elements, and compute with none.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;

Dim product(const std::vector<Dim>& dims, std::size_t from, std::size_t to) {
  return element_count({dims.begin() + static_cast<std::ptrdiff_t>(from),
                        dims.begin() + static_cast<std::ptrdiff_t>(to)});
}

// Known integers under another shape of at most one axis.
bool give_moved_elements(Call& call, bool becomes_scalar) {
  const Value& value = call.in(0);
  if (!value.elements || value.constant) return false;
  if (becomes_scalar && value.elements->size() != 1) return false;
  call.give(elements_value(call.output_name(0), *value.elements, becomes_scalar, value.dtype()));
  return true;
}

void reshape(Call& call) {
  const auto* attribute = call.node.find<std::vector<std::int64_t>>("shape");
  std::vector<Dim> target;
  if (attribute) {
    target.assign(attribute->begin(), attribute->end());
  } else if (call.in(1).elements) {
    target = *call.in(1).elements;
  } else {
    return call.give(fmt::format("dyn.reshape({}, {})", call.text(0), call.text(1)));
  }
  const std::vector<Dim> from = call.in(0).dims();
  if (target.size() > 64) call.bad(fmt::format("a shape of {} axes", target.size()));
  const bool allows_zero = call.integer("allowzero", 0) != 0;
  std::optional<std::size_t> rest;
  for (std::size_t k = 0; k < target.size(); ++k) {
    if (target[k].is_constant(0) && !allows_zero) {
      if (k >= from.size()) call.bad(fmt::format("the shape copies axis {} of {}", k, from.size()));
      target[k] = from[k];
    } else if (target[k].is_constant(-1)) {
      if (rest) call.bad("the shape has two extents that are what remains");
      rest = k;
    } else if (target[k].is_constant() && target[k].constant() < 0) {
      call.bad(fmt::format("the shape has the extent {}", target[k].to_string()));
    }
  }
  if (rest) {
    // What occurs on both sides cancels out, also where it is no number.
    std::vector<Dim> others = target;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*rest));
    std::vector<Dim> left = from;
    for (auto each = others.begin(); each != others.end();) {
      const auto same = std::find(left.begin(), left.end(), *each);
      if (same == left.end()) {
        ++each;
        continue;
      }
      left.erase(same);
      each = others.erase(each);
    }
    const Dim divisor = element_count(others);
    target[*rest] = divisor.is_constant(0) ? Dim(0) : Dim::floor_div(element_count(left), divisor);
  }
  if (target.size() <= 1 && give_moved_elements(call, target.empty())) return;
  call.give(reshaped(call, call.hint(), call.in(0), target));
}

void flatten(Call& call) {
  const std::size_t rank = call.rank(0);
  std::int64_t at = call.integer("axis", 1);
  if (at < 0) at += static_cast<std::int64_t>(rank);
  if (at < 0 || at > static_cast<std::int64_t>(rank))
    call.bad(fmt::format("axis {} of {} axes", at, rank));
  const auto axis = static_cast<std::size_t>(at);
  if (axis == 1 && rank > 1) {
    Value flat = call.let(call.hint(), fmt::format("nn.batch_flatten({})", call.text(0)));
    flat.type =
        lang::tensor_type(lang::Shape({call.in(0).dims()[0], product(call.in(0).dims(), 1, rank)}),
                          call.in(0).dtype());
    call.importer.declare(flat.text, flat.type);
    return call.give(flat);
  }
  const auto& dims = call.in(0).dims();
  call.give(
      reshaped(call, call.hint(), call.in(0), {product(dims, 0, axis), product(dims, axis, rank)}));
}

void transpose(Call& call) {
  const std::size_t rank = call.rank(0);
  const auto perm = call.integers("perm");
  if (!perm) return call.give(fmt::format("transpose({})", call.text(0)));
  if (perm->size() != rank) call.bad("`perm` has not as many axes as the input");
  bool is_identity = true;
  for (std::size_t k = 0; k < rank; ++k)
    is_identity = is_identity && (*perm)[k] == static_cast<std::int64_t>(k);
  if (is_identity) return call.give(Value(call.in(0)));
  call.give(fmt::format("transpose({}, axes={})", call.text(0), list_text(*perm)));
}

void squeeze(Call& call) {
  auto axes = call.integers("axes", 1);
  if (!axes) {
    axes.emplace();
    for (std::size_t k = 0; k < call.rank(0); ++k) {
      if (call.in(0).dims()[k].is_constant(1)) axes->push_back(static_cast<std::int64_t>(k));
    }
  }
  const auto list = call.axes(*axes, call.rank(0));
  if (call.rank(0) == 1 && list.size() == 1 && give_moved_elements(call, true)) return;
  if (list.empty()) return call.give(Value(call.in(0)));
  call.give(fmt::format("squeeze({}, axis={})", call.text(0), list_text(list)));
}

void unsqueeze(Call& call) {
  const auto axes = call.integers("axes", 1);
  if (!axes) call.bad("it has no axes");
  const auto list = call.axes(*axes, call.rank(0) + axes->size());
  if (call.rank(0) == 0 && list.size() == 1 && give_moved_elements(call, false)) return;
  call.give(with_axes_text(call.text(0), list));
}

void concat(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  std::vector<Dim> elements;
  bool are_known = call.rank(0) == 1;
  bool are_constant = true;
  for (std::size_t k = 0; k < call.input_count(); ++k) {
    const Value& value = call.in(k);
    are_known = are_known && value.elements && value.dtype() == call.in(0).dtype();
    are_constant = are_constant && value.constant;
    are_known = are_known && elements.size() <= 4096;
    if (are_known) elements.insert(elements.end(), value.elements->begin(), value.elements->end());
  }
  if (are_known && !are_constant && are_few(elements))
    return call.give(
        elements_value(call.output_name(0), std::move(elements), false, call.in(0).dtype()));
  if (call.input_count() == 1) return call.give(Value(call.in(0)));
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < call.input_count(); ++k) texts.push_back(call.text(k));
  call.give(fmt::format("concatenate(({}), axis={})", fmt::join(texts, ", "), axis));
}

void split(Call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const auto count = static_cast<std::int64_t>(call.node.outputs.size());
  const auto parts = call.integers("split", 1);
  if (count == 1) return call.give(Value(call.in(0)));
  std::string sections;
  if (!parts) {
    const Dim& extent = call.in(0).dims()[axis];
    if (extent.is_constant() && extent.constant() % count != 0)
      call.bad(fmt::format("an axis of {} falls into {} equal parts", extent.constant(), count));
    sections = fmt::format("{}", count);
  } else {
    if (static_cast<std::int64_t>(parts->size()) != count)
      call.bad("`split` has not as many parts as there are outputs");
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (std::size_t k = 0; k + 1 < parts->size(); ++k) {
      if ((*parts)[k] < 0 || __builtin_add_overflow(end, (*parts)[k], &end))
        call.bad("`split` has a part that is no extent");
      ends.push_back(end);
    }
    sections = list_text(ends);
  }
  call.give_fields(
      fmt::format("split({}, indices_or_sections={}, axis={})", call.text(0), sections, axis));
}

std::int64_t shown_bound(std::int64_t bound, const Dim& extent) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();
  if (extent.is_constant() && bound > extent.constant()) return extent.constant();
  return std::clamp(bound, -kEnd - 1, kEnd);
}

void slice(Call& call) {
  const std::size_t rank = call.rank(0);
  const bool has_known = !call.has(1) || (call.in(1).constant && call.in(2).constant);
  if (!has_known || (call.has(3) && !call.in(3).constant)) {
    const auto axes = call.has(3) ? std::optional(call.known(3)) : std::nullopt;
    const std::string steps =
        call.has(4) ? call.text(4) : fmt::format("ones_like({})", call.text(1));
    const std::string list =
        axes ? fmt::format(", axes={}", list_text(call.axes(*axes, rank))) : "";
    return call.give(fmt::format("dyn.strided_slice({}, {}, {}, {}{})", call.text(0), call.text(1),
                                 call.text(2), steps, list));
  }
  const auto starts = call.integers("starts", 1);
  const auto ends = call.integers("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) call.bad("starts and ends do not agree");
  std::vector<std::int64_t> all(starts->size());
  std::iota(all.begin(), all.end(), 0);
  const auto axes = call.axes(call.integers("axes", 3).value_or(all), rank);
  const auto steps = call.has(4) ? call.known(4) : std::vector<std::int64_t>(starts->size(), 1);
  if (axes.size() != starts->size() || steps.size() != starts->size())
    call.bad("starts, axes and steps do not agree");
  const Value& value = call.in(0);
  if (value.elements && !value.constant && rank == 1 && starts->size() == 1 && steps[0] > 0) {
    const auto count = static_cast<std::int64_t>(value.elements->size());
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
    };
    std::vector<Dim> elements;
    for (std::int64_t k = place((*starts)[0]); k < place((*ends)[0]);
         k += std::min(steps[0], count))
      elements.push_back((*value.elements)[static_cast<std::size_t>(k)]);
    if (!elements.empty())
      return call.give(
          elements_value(call.output_name(0), std::move(elements), false, value.dtype()));
  }
  std::vector<std::int64_t> begins, stops;
  bool has_steps = false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (steps[k] == 0) call.bad("a step is 0");
    has_steps = has_steps || steps[k] != 1;
    const Dim& extent = value.dims()[static_cast<std::size_t>(axes[k])];
    begins.push_back(shown_bound((*starts)[k], extent));
    stops.push_back(shown_bound((*ends)[k], extent));
  }
  call.give(fmt::format("strided_slice({}, begin={}, end={}{}, axes={})", call.text(0),
                        list_text(begins), list_text(stops),
                        has_steps ? fmt::format(", strides={}", list_text(steps)) : "",
                        list_text(axes)));
}

void expand(Call& call) {
  if (!call.in(1).elements)
    return call.give(fmt::format("dyn.broadcast_to({}, {})", call.text(0), call.text(1)));
  const std::vector<Dim> target = *call.in(1).elements;
  const std::vector<Dim> from = call.in(0).dims();
  std::vector<Dim> shape(std::max(target.size(), from.size()), Dim(1));
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Dim a = k < shape.size() - from.size() ? Dim(1) : from[k - (shape.size() - from.size())];
    const Dim b =
        k < shape.size() - target.size() ? Dim(1) : target[k - (shape.size() - target.size())];
    shape[k] = b.is_constant(1) ? a : b;
    if (a.is_constant() && b.is_constant() && !a.is_constant(1) && !b.is_constant(1) && !(a == b))
      call.bad(fmt::format("extents {} and {} do not broadcast", a.to_string(), b.to_string()));
    if (!a.is_constant(1) && a.is_constant()) shape[k] = a;
  }
  if (shape == from) return call.give(Value(call.in(0)));
  Value result = call.let(
      call.hint(), fmt::format("broadcast_to({}, shape={})", call.text(0), list_text(shape)));
  result.type = lang::tensor_type(lang::Shape(shape), call.in(0).dtype());
  call.importer.declare(result.text, result.type);
  call.give(result);
}

void tile(Call& call) {
  if (!call.in(1).elements)
    return call.give(fmt::format("dyn.tile({}, {})", call.text(0), call.text(1)));
  call.give(fmt::format("tile({}, reps={})", call.text(0), list_text(*call.in(1).elements)));
}

void pad(Call& call) {
  const std::size_t rank = call.rank(0);
  const std::string mode = call.string("mode", "constant");
  auto pads = call.integers("pads", 1);
  if (!pads || pads->size() != 2 * rank)
    call.bad(fmt::format("`pads` are not two for each of {} axes", rank));
  // PyTorch's exporter writes such a node in front of each pool of means.
  if (std::all_of(pads->begin(), pads->end(), [](std::int64_t width) { return width == 0; }))
    return call.give(Value(call.in(0)));
  std::vector<std::string> widths;
  for (std::size_t k = 0; k < rank; ++k)
    widths.push_back(fmt::format("[{}, {}]", (*pads)[k], (*pads)[k + rank]));
  std::string value = call.like(0, call.number("value", 0));
  if (call.has(2))
    value =
        call.rank(2) == 0 ? call.text(2) : fmt::format("reshape({}, newshape=[])", call.text(2));
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    call.bad(fmt::format("the mode `{}`", mode));
  call.give(fmt::format("nn.pad({}, {}, pad_width=[{}]{})", call.text(0), value,
                        fmt::join(widths, ", "),
                        mode == "constant" ? "" : fmt::format(", pad_mode=\"{}\"", mode)));
}

void depth_to_space(Call& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  if (block < 1) call.bad("a block of no elements");
  if (call.node.op == "SpaceToDepth")
    return call.give(fmt::format("nn.space_to_depth({}, block_size={})", call.text(0), block));
  std::string mode = call.string("mode", "DCR");
  if (mode == "CRD") mode = "CDR";  // the same, as Relay names it
  call.give(fmt::format("nn.depth_to_space({}, block_size={}, mode={})", call.text(0), block,
                        string_literal(mode)));
}

// The extents of a resized tensor, which are those of its scales.
std::vector<Dim> sizes_of_scales(const Call& call, const std::vector<double>& scales) {
  std::vector<Dim> sizes;
  if (scales.size() != call.rank(0)) call.bad("there is not a scale for each axis");
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const Dim& extent = call.in(0).dims()[k];
    const double scale = scales[k];
    if (!(scale > 0 && scale < 1e6)) call.bad("a scale that gives no extent");
    if (scale == std::floor(scale)) {
      sizes.push_back(extent * Dim(static_cast<std::int64_t>(scale)));
      continue;
    }
    const double size = static_cast<double>(call.extent(0, k)) * scale;
    if (!(size < 1e9) || size != std::floor(size)) {
      call.unsupported(
          "a scale that is not the quotient of two extents: positions would be those of another");
    }
    sizes.emplace_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

void resize(Call& call) {
  const std::size_t rank = call.rank(0);
  const bool is_old = call.node.op == "Upsample" || call.opset() < 11;
  if (rank < 3 || rank > 5)
    call.unsupported("resizing what has not one, two or three axes behind channels");
  std::vector<Dim> sizes;
  const bool has_sizes = !is_old && call.has(3);
  const std::size_t scales_at = is_old ? 1 : 2;
  if (has_sizes) {
    if (!call.in(3).elements) call.unsupported("sizes that are computed of data");
    sizes = *call.in(3).elements;
  } else if (const auto* scales = call.node.find<std::vector<double>>("scales")) {
    sizes = sizes_of_scales(call, *scales);
  } else {
    sizes = sizes_of_scales(call, call.known_numbers(scales_at));
  }
  if (sizes.size() != rank) call.bad("there is not a size for each axis");
  for (std::size_t k = 0; k < 2; ++k) {
    if (!(call.in(0).dims()[k] == sizes[k])) call.unsupported("resizing the batch or the channels");
  }
  const std::string mode = call.string("mode", "nearest");
  std::string where =
      is_old ? "asymmetric" : call.string("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = is_old ? "floor" : call.string("nearest_mode", "round_prefer_floor");
  if (where == "half_pixel_symmetric") call.unsupported("the mode half_pixel_symmetric");
  std::string rest;
  if (where == "tf_crop_and_resize") call.unsupported("cropping while resizing");
  if (mode == "nearest")
    rest +=
        fmt::format(", method=\"nearest_neighbor\", rounding_method={}", string_literal(nearest));
  else if (mode == "cubic") {
    rest += fmt::format(", method=\"cubic\", cubic_alpha={}",
                        literal(call.number("cubic_coeff_a", -0.75), DType::Float32));
    if (call.integer("exclude_outside", 0) != 0) rest += ", cubic_exclude=1";
  } else if (mode != "linear")
    call.bad(fmt::format("the mode `{}`", mode));
  if (mode != "cubic" && call.integer("exclude_outside", 0) != 0)
    call.unsupported("exclude_outside of what is not cubic");
  if (where != "half_pixel")
    rest += fmt::format(", coordinate_transformation_mode={}", string_literal(where));
  const std::vector<Dim> spatial(sizes.begin() + 2, sizes.end());
  call.give(fmt::format("image.resize{}d({}, size={}{})", rank - 2, call.text(0),
                        list_text(spatial), rest),
            sizes);
}

void reverse_sequence(Call& call) {
  const std::int64_t time = call.integer("time_axis", 0);
  const std::int64_t batch = call.integer("batch_axis", 1);
  call.give(fmt::format("reverse_sequence({}, {}, seq_axis={}, batch_axis={})", call.text(0),
                        call.text(1), time, batch));
}

void triangle(Call& call) {
  std::string k = "0";
  if (call.has(1))
    k = call.rank(1) == 0 ? call.text(1) : fmt::format("reshape({}, newshape=[])", call.text(1));
  call.give(fmt::format("trilu({}, {}{})", call.text(0), k,
                        call.integer("upper", 1) != 0 ? "" : ", upper=False"));
}

constexpr auto kMovementOperators = std::to_array<Operator>({
    {"Reshape", &reshape, "of a computed shape, `dyn.reshape`"},
    {"Flatten", &flatten, ""},
    {"Transpose", &transpose, ""},
    {"Squeeze", &squeeze, "axes known"},
    {"Unsqueeze", &unsqueeze, "axes known"},
    {"Concat", &concat, ""},
    {"Split", &split, "parts known"},
    {"Slice", &slice, "axes known; computed bounds by `dyn.strided_slice`"},
    {"Expand", &expand, ""},
    {"Tile", &tile, ""},
    {"Pad", &pad, "widths known"},
    {"DepthToSpace", &depth_to_space, ""},
    {"SpaceToDepth", &depth_to_space, ""},
    {"Resize", &resize,
     "of one to three axes behind channels, sizes that are no data; scales that are whole, or "
     "quotients of extents; no "
     "cropping"},
    {"Upsample", &resize, "as Resize"},
    {"ReverseSequence", &reverse_sequence, ""},
    {"Trilu", &triangle, ""},
});

}  // namespace

std::span<const Operator> movement_operators() { return kMovementOperators; }

}  // namespace relay::models::onnx
