// Elements move between channels, batch and space: nn.depth_to_space, nn.space_to_depth,
// nn.batch_to_space_nd, nn.space_to_batch_nd, vision.yolo_reorg; and nn.fifo_buffer.

#include "lang/attrs_struct.h"
#include "lang/extents.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/image.h"
#include "stdlib/ops/sampling.h"
#include "stdlib/ops/types.h"
#include "stdlib/ops/window.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

std::vector<Expr> extents_of_tensor(const Expr& tensor) {
  std::vector<Expr> extents;
  for (std::size_t i = 0; i < dims_of(tensor).size(); ++i) extents.push_back(extent_of(tensor, i));
  return extents;
}

// --- nn.depth_to_space, nn.space_to_depth ---

AxisLayout image_layout(const AttrsRef& attrs) {
  return known_layout(attrs->get_string("layout"), "NC", "HW");
}

RuleOutcome block_rule(TypeCall& call, bool to_space) {
  const std::int64_t block = count_attr(call, "block_size", 1);
  const AxisLayout layout = layout_of(call, "layout", "NC", "HW");
  if (layout.rank != 4) bad_attribute(call, "`" + layout.letters + "` has blocks");
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  if (shape.has_rank() && shape.rank() != 4) {
    call.fail(DiagnosticKind::RankMismatch, "`" + call.op.name + "` takes data of rank 4, and `" +
                                                to_string(shape) + "` has rank " +
                                                std::to_string(shape.rank()));
  }
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape from = with_rank(call, shape, 4);
  std::vector<Dim> dims = from.dims();
  const auto grow = [&](std::size_t axis, std::int64_t times, bool grows) {
    dims[axis] = grows ? dims[axis] * Dim(times) : Dim::floor_div(dims[axis], Dim(times));
  };
  grow(layout.lead[1].axis, block * block, !to_space);
  for (const std::size_t axis : layout.spatial) grow(axis, block, to_space);
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

Expr depth_to_space(const DefinitionCall& call) {
  const std::int64_t block = call.attrs->get_int("block_size");
  const bool depth_first = call.attrs->get_string("mode") == "DCR";
  const AxisLayout layout = image_layout(call.attrs);
  const std::size_t channel = layout.lead[1].axis;
  const Expr& data = call.args[0];
  std::vector<Expr> extents = extents_of_tensor(data);
  extents[channel] = floor_div(extents[channel], block * block);
  for (const std::size_t axis : layout.spatial)
    extents[axis] = Scalar(extents[axis]) * static_cast<double>(block);
  return generate(as_tensor(call.result).shape.dims(), extents, [&](const Indices& out) {
    Indices place = out;
    Scalar offset = build::index_constant(0);
    for (const std::size_t axis : layout.spatial) {
      place[axis] = floor_div(out[axis], block);
      offset = offset * static_cast<double>(block) + floor_mod(out[axis], block);
    }
    place[channel] = depth_first
                         ? offset * Scalar(extents[channel]) + Scalar(out[channel])
                         : Scalar(out[channel]) * static_cast<double>(block * block) + offset;
    return build::at(data, place);
  });
}

Expr space_to_depth(const DefinitionCall& call) {
  const std::int64_t block = call.attrs->get_int("block_size");
  const AxisLayout layout = image_layout(call.attrs);
  const std::size_t channel = layout.lead[1].axis;
  const Expr& data = call.args[0];
  const Expr channels = extent_of(data, channel);
  std::vector<Expr> extents = extents_of_tensor(data);
  extents[channel] = Scalar(channels) * static_cast<double>(block * block);
  for (const std::size_t axis : layout.spatial) extents[axis] = floor_div(extents[axis], block);
  return generate(as_tensor(call.result).shape.dims(), extents, [&](const Indices& out) {
    Indices place = out;
    const Scalar offset = build::prim(Prim::FloorDiv, {out[channel], channels});
    place[channel] = build::prim(Prim::FloorMod, {out[channel], channels});
    const Scalar within[] = {floor_div(offset, block), floor_mod(offset, block)};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t axis = layout.spatial[i];
      place[axis] = Scalar(out[axis]) * static_cast<double>(block) + within[i];
    }
    return build::at(data, place);
  });
}

void add_block_operator(const char* name, bool to_space, const char* doc, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 5;
  def.doc = std::string(doc) + " What does not fill a block is left out, as in Relay.";
  def.example = example;
  def.inputs = {{"data", "batch, channels, height and width as `layout` says"}};
  def.attrs = {optional_attr("block_size", AttrKind::Int, 1, "extent of a block in space"),
               optional_attr("layout", AttrKind::String, "NCHW", "which axis holds what"),
               optional_attr("mode", AttrKind::String, "DCR",
                             to_space ? "DCR: the place in a block is the major part of a channel; "
                                        "CDR: the minor part"
                                      : "unused: always DCR")};
  lang::set_attrs_struct(def.name, "SubPixelAttrs");
  def.type_rule = [to_space](TypeCall& call) {
    if (to_space) check_one_of(call, "mode", {"DCR", "CDR"});
    return block_rule(call, to_space);
  };
  def.definition = to_space ? depth_to_space : space_to_depth;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.batch_to_space_nd, nn.space_to_batch_nd ---

struct Ends {
  std::int64_t front, back;
};

// A pair for each blocked axis.
std::vector<Ends> ends_of(const AttrsRef& attrs, const char* key) {
  std::vector<Ends> ends;
  for (const AttrValue& pair : *attrs->find(key)->as_list()) {
    const AttrValue::List& two = *pair.as_list();
    ends.push_back({*two[0].as_int(), *two[1].as_int()});
  }
  return ends;
}

void check_ends(const TypeCall& call, const char* key, std::size_t count) {
  const AttrValue::List* pairs = call.attrs->find(key)->as_list();
  bool fits = pairs && pairs->size() == count;
  for (std::size_t i = 0; fits && i < count; ++i) {
    const AttrValue::List* two = (*pairs)[i].as_list();
    fits = two && two->size() == 2;
    for (std::size_t k = 0; fits && k < 2; ++k)
      fits = (*two)[k].as_int() && *(*two)[k].as_int() >= 0 && *(*two)[k].as_int() <= kLargestCount;
  }
  if (!fits) {
    bad_attribute(call, "`" + std::string(key) + "` must be " + std::to_string(count) +
                            " pairs of numbers that are not negative, one for each block extent");
  }
}

std::int64_t block_count(const std::vector<std::int64_t>& block) {
  std::int64_t count = 1;
  for (const std::int64_t extent : block) count *= extent;
  return count;
}

// The extent divided by `by`, which must leave no rest.
Dim divided(const TypeCall& call, const Dim& extent, std::int64_t by, const std::string& what) {
  if (extent.is_constant() && extent.constant() % by != 0) {
    call.fail(DiagnosticKind::ShapeMismatch, what + " of extent " + extent.to_string() +
                                                 " does not fall into blocks of " +
                                                 std::to_string(by));
  }
  return Dim::floor_div(extent, Dim(by));
}

RuleOutcome batch_rule(TypeCall& call, bool to_space) {
  const std::vector<std::int64_t> block = call.attrs->get_ints("block_shape");
  for (const std::int64_t extent : block) {
    if (extent < 1) bad_attribute(call, "`block_shape` must be at least 1");
  }
  if (lang::product_of(block).value_or(kLargestCount + 1) > kLargestCount)
    bad_attribute(call, "`block_shape` must have at most " + std::to_string(kLargestCount) +
                            " elements in a block");
  const char* key = to_space ? "crops" : "paddings";
  check_ends(call, key, block.size());
  const std::vector<Ends> ends = ends_of(call.attrs, key);
  const Type data = call.tensor(0);
  const Shape& from = as_tensor(data).shape;
  const Shape known = result_shape(call, as_tensor(data).dtype);
  if (!from.has_rank()) return RuleOutcome::Stuck;
  if (from.rank() < block.size() + 1) {
    call.fail(DiagnosticKind::RankMismatch, "`block_shape` has " + std::to_string(block.size()) +
                                                " values, and `" + to_string(from) +
                                                "` has too few axes for them behind the batch");
  }
  std::vector<Dim> dims = from.dims();
  const std::int64_t count = block_count(block);
  dims[0] = to_space ? Dim::floor_div(dims[0], Dim(count)) : dims[0] * Dim(count);
  for (std::size_t i = 0; i < block.size(); ++i) {
    Dim& dim = dims[i + 1];
    const Dim width(ends[i].front + ends[i].back);
    if (!to_space) {
      dim = divided(call, dim + width, block[i], "axis " + std::to_string(i + 1) + " with padding");
      continue;
    }
    dim = dim * Dim(block[i]) - width;
    if (dim.is_constant() && dim.constant() < 0)
      call.fail(DiagnosticKind::ShapeMismatch,
                "`crops` cuts off more than axis " + std::to_string(i + 1) + " has");
  }
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

Expr batch_to_space(const DefinitionCall& call) {
  const std::vector<std::int64_t> block = call.attrs->get_ints("block_shape");
  const std::vector<Ends> crops = ends_of(call.attrs, "crops");
  const Expr& data = call.args[0];
  std::vector<Expr> extents = extents_of_tensor(data);
  extents[0] = floor_div(extents[0], block_count(block));
  for (std::size_t i = 0; i < block.size(); ++i)
    extents[i + 1] = Scalar(extents[i + 1]) * static_cast<double>(block[i]) -
                     static_cast<double>(crops[i].front + crops[i].back);
  return generate(as_tensor(call.result).shape.dims(), extents, [&](const Indices& out) {
    Indices place = out;
    Scalar offset = build::index_constant(0);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Scalar position = Scalar(out[i + 1]) + static_cast<double>(crops[i].front);
      place[i + 1] = floor_div(position, block[i]);
      if (block[i] > 1)
        offset = offset * static_cast<double>(block[i]) + floor_mod(position, block[i]);
    }
    place[0] = offset * Scalar(extents[0]) + Scalar(out[0]);
    return build::at(data, place);
  });
}

Expr space_to_batch(const DefinitionCall& call) {
  const std::vector<std::int64_t> block = call.attrs->get_ints("block_shape");
  const std::vector<Ends> paddings = ends_of(call.attrs, "paddings");
  const Expr& data = call.args[0];
  const DType dtype = call.tensor(0).dtype.known();
  AttrValue::List widths(dims_of(data).size(), AttrValue::ints({0, 0}));
  std::vector<Expr> extents = extents_of_tensor(data);
  const Expr batch = extents[0];
  extents[0] = Scalar(batch) * static_cast<double>(block_count(block));
  for (std::size_t i = 0; i < block.size(); ++i) {
    widths[i + 1] = AttrValue::ints({paddings[i].front, paddings[i].back});
    extents[i + 1] = floor_div(
        Scalar(extents[i + 1]) + static_cast<double>(paddings[i].front + paddings[i].back),
        block[i]);
  }
  const Expr around =
      build::cast_to(dtype, build::constant(DType::Float64, call.attrs->get_float("pad_value")));
  const Expr padded =
      build::op("nn.pad", {data, around}, {{"pad_width", AttrValue(std::move(widths))}});
  return build::let("padded", padded, [&](const Expr& surrounded) {
    return generate(as_tensor(call.result).shape.dims(), extents, [&](const Indices& out) {
      Indices place = out;
      Scalar offset = build::prim(Prim::FloorDiv, {out[0], batch});
      place[0] = build::prim(Prim::FloorMod, {out[0], batch});
      for (std::size_t i = block.size(); i-- > 0;) {
        if (block[i] == 1) continue;
        place[i + 1] =
            Scalar(out[i + 1]) * static_cast<double>(block[i]) + floor_mod(offset, block[i]);
        offset = floor_div(offset, block[i]);
      }
      return build::at(surrounded, place);
    });
  });
}

void add_batch_operators() {
  const AttrSpec block = optional_attr("block_shape", AttrKind::IntList, AttrValue::ints({1, 1}),
                                       "extents of a block along the axes behind the batch");
  OpDef def;
  def.name = "nn.batch_to_space_nd";
  def.level = 5;
  def.doc =
      "Blocks of the batch become blocks in space, whose ends are then cut off.\n"
      "The place in a block is the major part of a position in the batch, as in TensorFlow. What "
      "the batch has beyond a\nmultiple of a block is dropped.";
  def.example =
      "nn.batch_to_space_nd([[1, 3], [2, 4]], block_shape=[2], crops=[[0, 1]])\n"
      "// expect: [[1, 2, 3]]";
  def.inputs = {{"data", "batch, the axes in space, and others"}};
  def.attrs = {block, required_attr("crops", AttrKind::Any,
                                    "for each of these axes how much to cut off in front and "
                                    "behind, as `[[0, 0], [0, 1]]`")};
  lang::set_attrs_struct(def.name, "BatchToSpaceNDAttrs");
  def.type_rule = [](TypeCall& call) { return batch_rule(call, true); };
  def.definition = batch_to_space;
  lang::OpRegistry::instance().add(std::move(def));

  OpDef back;
  back.name = "nn.space_to_batch_nd";
  back.level = 5;
  back.doc =
      "Blocks in space, after padding, become blocks of the batch.\n"
      "The place in a block is the major part of a position in the batch, as in TensorFlow.";
  back.example =
      "nn.space_to_batch_nd([[1, 2, 3]], block_shape=[2], paddings=[[0, 1]])\n"
      "// expect: [[1, 3], [2, 0]]";
  back.inputs = {{"data", "batch, the axes in space, and others"}};
  back.attrs = {block,
                required_attr("paddings", AttrKind::Any,
                              "for each of these axes how much to add in front and behind"),
                optional_attr("pad_value", AttrKind::Float, 0.0, "what is added")};
  lang::set_attrs_struct(back.name, "SpaceToBatchNDAttrs");
  back.type_rule = [](TypeCall& call) { return batch_rule(call, false); };
  back.definition = space_to_batch;
  lang::OpRegistry::instance().add(std::move(back));
}

// --- vision.yolo_reorg ---

RuleOutcome yolo_reorg_rule(TypeCall& call) {
  const std::int64_t stride = count_attr(call, "stride", 1);
  const Type data = call.tensor(0);
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape from = with_rank(call, as_tensor(data).shape, 4);
  divided(call, from[1], stride * stride, "the channel axis");
  call.solver.unify(known, Shape({from[0], from[1] * Dim(stride * stride),
                                  divided(call, from[2], stride, "the height"),
                                  divided(call, from[3], stride, "the width")}));
  return RuleOutcome::Solved;
}

Expr yolo_reorg(const DefinitionCall& call) {
  const std::int64_t stride = call.attrs->get_int("stride");
  const auto by = static_cast<double>(stride);
  const Expr& data = call.args[0];
  const std::vector<Expr> from = extents_of_tensor(data);
  std::vector<Expr> to = from;
  to[1] = Scalar(from[1]) * (by * by);
  for (const std::size_t axis : {2, 3}) to[axis] = floor_div(from[axis], stride);
  const auto div = [](const Scalar& a, const Scalar& b) -> Scalar {
    return build::prim(Prim::FloorDiv, {a, b});
  };
  const auto mod = [](const Scalar& a, const Scalar& b) -> Scalar {
    return build::prim(Prim::FloorMod, {a, b});
  };
  const Scalar height = from[2];
  const Scalar width = from[3];
  return generate(as_tensor(call.result).shape.dims(), to, [&](const Indices& out) {
    const Scalar row = (Scalar(out[1]) * Scalar(to[2]) + Scalar(out[2])) * Scalar(to[3]);
    const Scalar position = row + Scalar(out[3]);  // in the image, read as c, h, w
    const Scalar k = div(position, height * width);
    const Scalar channels = floor_div(from[1], stride * stride);
    const Scalar offset = div(k, channels);
    const Scalar y = mod(div(position, width), height) * by + floor_div(offset, stride);
    const Scalar x = mod(position, width) * by + floor_mod(offset, stride);
    // The image, read as c / stride^2, h * stride, w * stride.
    const Scalar flat = (mod(k, channels) * (height * by) + y) * (width * by) + x;
    return build::at(
        data, {out[0], div(flat, height * width), mod(div(flat, width), height), mod(flat, width)});
  });
}

void add_yolo_reorg() {
  OpDef def;
  def.name = "vision.yolo_reorg";
  def.level = 5;
  def.doc =
      "Space becomes channels as Darknet's reorg layer does it, which reads the image as one with\n"
      "`channels / stride^2` channels and `stride` times its height and width. Each image of a "
      "batch on its own.";
  def.example =
      "vision.yolo_reorg([[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]], [[13, 14], "
      "[15, "
      "16]]]], stride=2)[0, :, 0, 0]\n// expect: [ 1,  3,  9, 11,  2,  4, 10, 12,  5,  7, 13, 15,  "
      "6,  8, 14, 16]";
  def.inputs = {{"data", "batch, channels, height, width"}};
  def.attrs = {optional_attr("stride", AttrKind::Int, 1, "what height and width are divided by")};
  lang::set_attrs_struct(def.name, "YoloReorgAttrs", {"stride"});
  def.type_rule = yolo_reorg_rule;
  def.definition = yolo_reorg;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.fifo_buffer ---

void add_fifo_buffer() {
  OpDef def;
  def.name = "nn.fifo_buffer";
  def.level = 3;
  def.doc =
      "The buffer with the data appended along an axis and as many of the oldest elements "
      "dropped.\n"
      "Of data that is longer than the buffer its last elements are kept.";
  def.example = "nn.fifo_buffer([4, 5], [1, 2, 3], axis=0)\n// expect: [3, 4, 5]";
  def.inputs = {{"data", "what is new"}, {"buffer", "what was there"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, 0, "along which the buffer moves")};
  lang::set_attrs_struct(def.name, "FIFOBufferAttrs");
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Type buffer = call.tensor(1);
    call.solver.unify(as_tensor(data).dtype, as_tensor(buffer).dtype);
    call.returns(lang::tensor_type(as_tensor(buffer).shape, as_tensor(data).dtype));
    const Shape& from = as_tensor(data).shape;
    const Shape& to = as_tensor(buffer).shape;
    if (!from.has_rank() || !to.has_rank()) return RuleOutcome::Stuck;
    if (from.rank() != to.rank()) {
      call.fail(DiagnosticKind::RankMismatch, "data `" + to_string(from) + "` and buffer `" +
                                                  to_string(to) + "` have different ranks");
    }
    check_axis(call, call.attrs->get_int("axis"), to);
    const std::size_t axis = position_of(call.attrs->get_int("axis"), to.rank());
    for (std::size_t i = 0; i < to.rank(); ++i) {
      if (i != axis) call.solver.unify(from[i], to[i]);
    }
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Expr& data = call.args[0];
    const Expr& buffer = call.args[1];
    const std::size_t axis = position_of(call.attrs->get_int("axis"), dims_of(buffer).size());
    const Scalar length = extent_of(buffer, axis);
    const Scalar added = extent_of(data, axis);
    if (constant_of(added) == 0) return buffer;
    return generate_over(buffer, dims_of(buffer).size(), [&](const Indices& out) {
      Indices old = out;
      Indices fresh = out;
      const Scalar from_data = Scalar(out[axis]) + added - length;
      old[axis] = clamped(Scalar(out[axis]) + added, length);
      fresh[axis] = clamped(from_data, added);
      return choose(from_data >= 0, build::at(data, fresh), build::at(buffer, old)).expr;
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_rearranging_operators() {
  add_block_operator("nn.depth_to_space", true,
                     "Channels become blocks in space.\n"
                     "Channels beyond a multiple of block_size^2 are dropped, as in Relay.",
                     "nn.depth_to_space([[[[1]], [[2]], [[3]], [[4]]]], block_size=2)\n"
                     "// expect: [[[[1, 2], [3, 4]]]]");
  add_block_operator("nn.space_to_depth", false,
                     "Blocks in space become channels.\n"
                     "Rows and columns beyond a multiple of block_size are dropped, as in Relay.",
                     "nn.space_to_depth([[[[1, 2], [3, 4]]]], block_size=2)[0, :, 0, 0]\n"
                     "// expect: [1, 2, 3, 4]");
  add_batch_operators();
  add_fifo_buffer();
  add_yolo_reorg();
}

}  // namespace relay::stdlib
