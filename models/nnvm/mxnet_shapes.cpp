#include <algorithm>

#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/mxnet_builders.h"

namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

constexpr std::int64_t kBehindAll = 2147483647;  // a position that is moved to the end

// The pieces of a tuple as outputs, without the axis where that is asked for.
void give_pieces(OperatorCall& call, const std::string& parts, std::size_t count, std::int64_t axis,
                 bool squeezes) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string piece = fmt::format("{}.{}", parts, i);
    call.same(squeezes ? call.let(fmt::format("{}", i),
                                  fmt::format("squeeze({}, axis=[{}])", piece, axis))
                       : piece);
  }
}

std::string pad_text(const std::vector<std::string>& widths, const std::string& data,
                     const std::string& value, const std::string& mode) {
  return fmt::format("nn.pad({}, {}, pad_width=[{}]{})", data, value, fmt::join(widths, ", "),
                     option("pad_mode", mode, "constant"));
}

}  // namespace

void mx_concat(OperatorCall& call) {
  if (call.input_count() == 1) return itself(call);
  call.result(fmt::format("concatenate({}, axis={})", tuple_text(call.texts()),
                          call.attributes.integer("dim", 1)));
}

void mx_stack(OperatorCall& call) {
  call.result(fmt::format("stack({}, axis={})", tuple_text(call.texts()),
                          call.attributes.integer("axis", 0)));
}

void mx_split(OperatorCall& call) {
  const std::int64_t count = call.attributes.integer("num_outputs");
  const auto axis = call.axis(call.attributes.integer("axis", 1), call.rank(0));
  const bool squeezes = call.attributes.flag("squeeze_axis", false);
  if (count < 1 || count > call.extent(0, static_cast<std::size_t>(axis)))
    call.bad(fmt::format("`num_outputs` is {}", count));
  if (count == 1) {
    return squeezes ? call.result(fmt::format("squeeze({}, axis=[{}])", call.text(0), axis))
                    : itself(call);
  }
  const std::string parts = call.let(
      squeezes ? "parts" : "",
      fmt::format("split({}, indices_or_sections={}, axis={})", call.text(0), count, axis));
  give_pieces(call, parts, static_cast<std::size_t>(count), axis, squeezes);
}

void mx_split_v2(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::int64_t sections = attributes.integer("sections", 0);
  Integers places = attributes.integers("indices", {});
  const auto axis = call.axis(attributes.integer("axis", 1), call.rank(0));
  const bool squeezes = attributes.flag("squeeze_axis", false);
  if (sections < 0 || sections > call.extent(0, static_cast<std::size_t>(axis)))
    call.bad(fmt::format("`sections` is {}", sections));
  // Here the first place, 0, is written too.
  if (!places.empty() && places.front() == 0) places.erase(places.begin());
  const std::string parts =
      call.let(squeezes ? "parts" : "",
               fmt::format("split({}, indices_or_sections={}, axis={})", call.text(0),
                           sections > 0 ? fmt::format("{}", sections) : text_of(places), axis));
  give_pieces(call, parts, sections > 0 ? static_cast<std::size_t>(sections) : places.size() + 1,
              axis, squeezes);
}

void mx_slice(OperatorCall& call) {
  const auto begins = call.attributes.slots("begin");
  const auto ends = call.attributes.slots("end");
  auto steps = call.attributes.has("step") ? call.attributes.slots("step")
                                           : std::vector<std::optional<std::int64_t>>();
  if (begins.size() != ends.size() || begins.size() > call.rank(0) || steps.size() > begins.size())
    call.bad(fmt::format("it slices {} of {} axes", begins.size(), call.rank(0)));
  steps.resize(begins.size());
  Integers begin, end, step;
  for (std::size_t axis = 0; axis < begins.size(); ++axis) {
    step.push_back(steps[axis].value_or(1));
    const bool is_forward = step.back() > 0;
    begin.push_back(begins[axis].value_or(is_forward ? 0 : kBehindAll));
    end.push_back(ends[axis].value_or(is_forward ? kBehindAll : -kBehindAll));
  }
  call.result(fmt::format("strided_slice({}, begin={}, end={}{})", call.text(0), text_of(begin),
                          text_of(end), option("strides", step, Integers(step.size(), 1))));
}

void mx_slice_axis(OperatorCall& call) {
  const auto axis = call.axis(call.attributes.integer("axis"), call.rank(0));
  call.result(fmt::format("strided_slice({}, begin=[{}], end=[{}], axes=[{}])", call.text(0),
                          call.attributes.integer("begin", 0),
                          call.attributes.integer("end", kBehindAll), axis));
}

void mx_slice_like(OperatorCall& call) {
  call.result(fmt::format("slice_like({}, {}{})", call.text(0), call.text(1),
                          option("axes", call.attributes.integers("axes", {}), Integers())));
}

void mx_crop(OperatorCall& call) {
  Integers offset = call.attributes.integers("offset", {0, 0});
  Integers size = call.attributes.integers("h_w", {0, 0});
  const bool is_centred = call.attributes.flag("center_crop", false);
  if (call.rank(0) != 4 || offset.size() != 2 || size.size() != 2)
    call.bad("it crops images, (batch, channels, height, width)");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (call.input_count() > 1) size[axis] = call.extent(1, axis + 2);
    if (is_centred) offset[axis] = (call.extent(0, axis + 2) - size[axis]) / 2;
  }
  call.result(fmt::format("strided_slice({}, begin={}, end={}, axes=[2, 3])", call.text(0),
                          text_of(offset),
                          text_of(Integers{offset[0] + size[0], offset[1] + size[1]})));
}

void mx_swap_axis(OperatorCall& call) {
  const std::size_t rank = call.rank(0);
  Integers axes(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) axes[axis] = static_cast<std::int64_t>(axis);
  const auto first = call.axis(call.attributes.integer("dim1", 0), rank);
  const auto second = call.axis(call.attributes.integer("dim2", 0), rank);
  std::swap(axes[static_cast<std::size_t>(first)], axes[static_cast<std::size_t>(second)]);
  call.result(fmt::format("transpose({}, axes={})", call.text(0), text_of(axes)));
}

void mx_tile(OperatorCall& call) {
  call.result(
      fmt::format("tile({}, reps={})", call.text(0), text_of(call.attributes.integers("reps"))));
}

void mx_repeat(OperatorCall& call) {
  const std::string axis = call.attributes.has("axis")
                               ? fmt::format(", axis={}", call.attributes.integer("axis"))
                               : std::string();
  call.result(fmt::format("repeat({}, repeats={}{})", call.text(0),
                          call.attributes.integer("repeats"), axis));
}

void mx_reverse(OperatorCall& call) {
  std::string text = call.text(0);
  for (const std::int64_t axis : call.attributes.integers("axis"))
    text = fmt::format("reverse({}, axis={})", text, axis);
  call.result(text);
}

void mx_pad(OperatorCall& call) {
  const Integers flat = call.attributes.nested_integers("pad_width");
  const std::string mode = call.attributes.text("mode", "constant");
  const double value = call.attributes.number("constant_value", 0);
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    call.bad(fmt::format("`mode` is `{}`", mode));
  if (flat.size() != 2 * call.rank(0))
    call.bad(fmt::format("`pad_width` has {} numbers for {} axes", flat.size(), call.rank(0)));
  std::vector<std::string> widths;
  for (std::size_t axis = 0; axis < call.rank(0); ++axis)
    widths.push_back(fmt::format("[{}, {}]", flat[2 * axis], flat[2 * axis + 1]));
  call.result(pad_text(widths, call.text(0), text_of(value), mode));
}

void mx_broadcast_axis(OperatorCall& call) {
  const Integers axes = call.attributes.integers("axis");
  const Integers sizes = call.attributes.integers("size");
  if (axes.size() != sizes.size())
    call.bad(fmt::format("{} axes with {} sizes", axes.size(), sizes.size()));
  std::vector<std::string> extents;
  for (std::size_t axis = 0; axis < call.rank(0); ++axis)
    extents.push_back(extent_text(call, 0, axis));
  for (std::size_t i = 0; i < axes.size(); ++i)
    extents[static_cast<std::size_t>(call.axis(axes[i], extents.size()))] =
        fmt::format("{}", sizes[i]);
  call.result(fmt::format("broadcast_to({}, shape=[{}])", call.text(0), fmt::join(extents, ", ")));
}

void mx_depth_space(OperatorCall& call) {
  call.result(fmt::format("{}({}, block_size={})", call.word, call.text(0),
                          call.attributes.integer("block_size")));
}

}  // namespace relay::models::nnvm
