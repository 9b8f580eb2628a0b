#include <algorithm>

#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/mxnet_builders.h"

// Operators that look for places in tensors, products of matrices, and new tensors.
namespace relay::models::nnvm {

using Integers = Attributes::Integers;

namespace {

std::string in_quotes(lang::DType dtype) { return fmt::format("\"{}\"", lang::name_of(dtype)); }

// MXNet counts places in floats, unless it is told otherwise.
std::string places_as_asked(OperatorCall& call, const std::string& places) {
  const lang::DType dtype = call.attributes.dtype("dtype", lang::DType::Float32);
  return dtype == lang::DType::Int32 ? places
                                     : fmt::format("cast({}, dtype={})", places, in_quotes(dtype));
}

std::int64_t sorted_axis(OperatorCall& call) {
  if (call.attributes.is_none("axis")) call.unsupported("`axis=None`, which sorts the flat data");
  return call.attributes.integer("axis", -1);
}

// The elements at an integer for each row along the axis, which goes.
std::string picked(OperatorCall& call, std::int64_t axis, bool keeps) {
  const std::int64_t last = call.extent(0, static_cast<std::size_t>(axis)) - 1;
  std::string places = fmt::format("clip({}, a_min=0, a_max={})", as_places(call, 1), last);
  if (call.rank(1) + 1 == call.rank(0))
    places = fmt::format("expand_dims({}, axis={})", places, axis);
  const std::string text = fmt::format("gather({}, {}, axis={})", call.text(0), places, axis);
  return keeps ? text : fmt::format("squeeze({}, axis=[{}])", text, axis);
}

}  // namespace

void mx_take(OperatorCall& call) {
  const std::string mode = call.attributes.text("mode", "clip");
  if (mode != "clip" && mode != "wrap") call.unsupported(fmt::format("`mode={}`", mode));
  call.result(fmt::format("take({}, {}, axis={}{})", call.text(0), as_places(call, 1),
                          call.attributes.integer("axis", 0), option("mode", mode, "clip")));
}

void mx_pick(OperatorCall& call) {
  const std::string mode = call.attributes.text("mode", "clip");
  if (mode != "clip") call.unsupported(fmt::format("`mode={}`", mode));
  if (call.attributes.is_none("axis")) call.unsupported("`axis=None`");
  const auto axis = call.axis(call.attributes.integer("axis", -1), call.rank(0));
  const bool keeps = call.attributes.flag("keepdims", false);
  result_of_rank(call, picked(call, axis, keeps));
}

void mx_batch_take(OperatorCall& call) {
  call.result(picked(call, call.axis(1, call.rank(0)), false));
}

void mx_gather_nd(OperatorCall& call) {
  call.result(fmt::format("gather_nd({}, {})", call.text(0), as_places(call, 1)));
}

void mx_one_hot(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  call.result(fmt::format("one_hot({}, {}, {}, depth={}, dtype={})", as_places(call, 0),
                          text_of(attributes.number("on_value", 1)),
                          text_of(attributes.number("off_value", 0)), attributes.integer("depth"),
                          in_quotes(attributes.dtype("dtype", lang::DType::Float32))));
}

void mx_where(OperatorCall& call) {
  std::string condition = call.text(0);
  const std::size_t rank = call.rank(1);
  if (call.rank(0) == 1 && rank > 1) {  // a condition for each row
    condition =
        fmt::format("expand_dims({}, axis=1{})", condition,
                    option("num_newaxis", static_cast<std::int64_t>(rank) - 1, std::int64_t{1}));
  }
  call.result(fmt::format("where({}, {}, {})", condition, call.text(1), call.text(2)));
}

void mx_topk(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::string type = attributes.text("ret_typ", "indices");
  const std::string arguments = fmt::format(
      "{}, k={}, axis={}{}", call.text(0), attributes.integer("k", 1), sorted_axis(call),
      option("is_ascend", attributes.flag("is_ascend", false), false));
  if (type == "value") return call.result(fmt::format("topk({}, ret_type=\"values\")", arguments));
  const std::string indices = fmt::format("topk({}, ret_type=\"indices\")", arguments);
  if (type == "indices") return call.result(places_as_asked(call, indices));
  if (type != "both") call.unsupported(fmt::format("`ret_typ={}`", type));
  const std::string both = call.let("", fmt::format("topk({})", arguments));
  call.same(both + ".0");
  call.same(call.let("indices", places_as_asked(call, both + ".1")));
}

void mx_argsort(OperatorCall& call) {
  call.result(places_as_asked(
      call, fmt::format("argsort({}, axis={}{})", call.text(0), sorted_axis(call),
                        option("is_ascend", call.attributes.flag("is_ascend", true), true))));
}

void mx_sort(OperatorCall& call) {
  call.result(fmt::format("sort({}, axis={}{})", call.text(0), sorted_axis(call),
                          option("is_ascend", call.attributes.flag("is_ascend", true), true)));
}

void mx_arg_reduce(OperatorCall& call) {
  const bool is_all = !call.attributes.has("axis");
  const bool keeps = call.attributes.flag("keepdims", false);
  const std::string text = fmt::format(
      "cast({}({}{}{}), dtype=\"float32\")", call.word, call.text(0),
      is_all ? std::string() : fmt::format(", axis={}", call.attributes.integer("axis")),
      option("keepdims", keeps, false));
  result_of_rank(call, text);
}

void mx_sequence_mask(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const std::int64_t axis = attributes.integer("axis", 0);
  const double value = attributes.number("value", 0);
  if (!attributes.flag("use_sequence_length", false)) return itself(call);
  call.result(fmt::format("sequence_mask({}, {}{}{})", call.text(0), as_places(call, 1),
                          value == 0 ? std::string() : fmt::format(", mask_value={}", value),
                          option("axis", axis, std::int64_t{0})));
}

void mx_sequence_last(OperatorCall& call) {
  const std::int64_t axis = call.attributes.integer("axis", 0);
  if (axis != 0 && axis != 1) call.bad(fmt::format("`axis` is {}", axis));
  if (!call.attributes.flag("use_sequence_length", false)) {
    return call.result(fmt::format("take({}, {}, axis={})", call.text(0),
                                   call.extent(0, static_cast<std::size_t>(axis)) - 1, axis));
  }
  const std::string last = fmt::format("{} - 1", as_places(call, 1));
  const std::string rows =
      fmt::format("arange({}, dtype=\"int32\")", call.extent(0, axis == 0 ? 1 : 0));
  call.result(fmt::format("gather_nd({}, stack(({}, {}), axis=0))", call.text(0),
                          axis == 0 ? last : rows, axis == 0 ? rows : last));
}

void mx_sequence_reverse(OperatorCall& call) {
  const std::int64_t axis = call.attributes.integer("axis", 0);
  if (!call.attributes.flag("use_sequence_length", false))
    return call.result(fmt::format("reverse({}, axis={})", call.text(0), axis));
  call.result(fmt::format("reverse_sequence({}, {}, seq_axis={}, batch_axis={})", call.text(0),
                          as_places(call, 1), axis, axis == 0 ? 1 : 0));
}

// The last axis of the one with the first axis of the other.
void mx_dot(OperatorCall& call) {
  const bool turns_a = call.attributes.flag("transpose_a", false);
  const bool turns_b = call.attributes.flag("transpose_b", false);
  call.attributes.ignore({"forward_stype"});
  const std::size_t a = call.rank(0);
  const std::size_t b = call.rank(1);
  const std::string& x = call.text(0);
  const std::string& y = call.text(1);
  if (a == 1 && b == 1) return call.result(fmt::format("expand_dims(sum({} * {}), axis=0)", x, y));
  if (a == 2 && b == 2) {
    return call.result(fmt::format("nn.matmul({}, {}{}{})", x, y,
                                   option("transpose_a", turns_a, false),
                                   option("transpose_b", turns_b, false)));
  }
  if (turns_a || turns_b || a == 0 || b == 0)
    call.unsupported(fmt::format("of ranks {} and {}, transposed", a, b));
  std::vector<std::string> extents;
  for (std::size_t axis = 0; axis + 1 < a; ++axis) extents.push_back(extent_text(call, 0, axis));
  for (std::size_t axis = 1; axis < b; ++axis) extents.push_back(extent_text(call, 1, axis));
  call.result(fmt::format(
      "reshape(nn.matmul(reshape({}, newshape=[-1, {}]), reshape({}, newshape=[{}, -1])), "
      "newshape=[{}])",
      x, extent_text(call, 0, a - 1), y, extent_text(call, 1, 0), fmt::join(extents, ", ")));
}

namespace {

std::string batch_product(OperatorCall& call) {
  const std::size_t rank = call.rank(0);
  if (rank != call.rank(1) || (rank != 2 && rank != 3))
    call.unsupported(fmt::format("of ranks {} and {}", rank, call.rank(1)));
  return fmt::format("nn.{}matmul({}, {}{}{})", rank == 3 ? "batch_" : "", call.text(0),
                     call.text(1),
                     option("transpose_a", call.attributes.flag("transpose_a", false), false),
                     option("transpose_b", call.attributes.flag("transpose_b", false), false));
}

}  // namespace

void mx_batch_dot(OperatorCall& call) {
  call.attributes.ignore({"forward_stype"});
  call.result(batch_product(call));
}

void mx_gemm2(OperatorCall& call) {
  const double alpha = call.attributes.number("alpha", 1);
  if (call.attributes.integer("axis", -2) != -2) call.unsupported("`axis`");
  const std::string product = batch_product(call);
  call.result(alpha == 1 ? product : fmt::format("{} * {}", product, text_of(alpha)));
}

void mx_full(OperatorCall& call) {
  const lang::DType dtype = call.attributes.dtype("dtype", lang::DType::Float32);
  const std::string text =
      fmt::format("full({}, shape={})", text_of(call.attributes.number("value")),
                  text_of(call.attributes.integers("shape")));
  call.result(dtype == lang::DType::Float32
                  ? text
                  : fmt::format("cast({}, dtype={})", text, in_quotes(dtype)));
}

void mx_arange(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  double start = attributes.number("start", 0);
  const double step = attributes.number("step", 1);
  const std::int64_t repeat = attributes.integer("repeat", 1);
  if (attributes.flag("infer_range", false)) call.unsupported("`infer_range`");
  // One number is where it stops.
  const bool has_stop = attributes.has("stop");
  const double stop = has_stop ? attributes.number("stop") : start;
  if (!has_stop) start = 0;
  std::string text =
      fmt::format("arange({}, {}, {}, dtype={})", text_of(start), text_of(stop), text_of(step),
                  in_quotes(attributes.dtype("dtype", lang::DType::Float32)));
  if (repeat != 1) text = fmt::format("repeat({}, repeats={}, axis=0)", text, repeat);
  call.result(text);
}

}  // namespace relay::models::nnvm
