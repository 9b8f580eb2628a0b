// What operators ask for in the light notation: one table of the attributes that must be written,
// and one of those that say extents. A new attribute has to be put into them.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "lang/call_form.h"
#include "lang/op.h"
#include "stdlib/register.h"

namespace {

using relay::lang::AttrKind;
using relay::lang::AttrSpec;
using relay::lang::InputSpec;
using relay::lang::OpDef;
using relay::lang::OpRegistry;

const std::vector<const OpDef*>& operators() {
  relay::stdlib::register_operators();
  return OpRegistry::instance().all();
}

bool starts_with_any(const std::string& name, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

// Operators that no one writes by hand: parts of others, quantized ones, and what vendors' tools
// and Relay's own passes leave behind.
bool is_for_people(const OpDef& op) {
  return !op.is_step &&
         !starts_with_any(
             op.name, {"contrib", "qnn.", "relay.op", "vision.", "nn.bit", "nn.contrib",
                       "nn.sparse", "memory.", "vm.", "fixed_point", "nn.internal", "annotation."});
}

bool is_an_input(const OpDef& op, const std::string& key) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const InputSpec& input) { return input.attr == key; });
}

bool can_be_computed(const OpDef& op, const std::string& key) {
  return std::any_of(operators().begin(), operators().end(), [&](const OpDef* form) {
    return form->static_form == op.name && is_an_input(*form, key);
  });
}

}  // namespace

TEST_CASE("what must be written has no obvious value", "[stdlib]") {
  const std::set<std::string> written = {"auto_scheduler_layout_transform dst_layout",
                                         "auto_scheduler_layout_transform src_layout",
                                         "broadcast_to shape",
                                         "cast dtype",
                                         "clip a_max",
                                         "clip a_min",
                                         "einsum equation",
                                         "expand_dims axis",
                                         "full shape",
                                         "image.affine_grid target_shape",
                                         "layout_transform dst_layout",
                                         "layout_transform src_layout",
                                         "load path",
                                         "load_csv path",
                                         "nn.avg_pool1d pool_size",
                                         "nn.avg_pool2d pool_size",
                                         "nn.avg_pool2d_grad pool_size",
                                         "nn.avg_pool3d pool_size",
                                         "nn.batch_to_space_nd crops",
                                         "nn.l2_normalize axis",
                                         "nn.max_pool1d pool_size",
                                         "nn.max_pool2d pool_size",
                                         "nn.max_pool2d_grad pool_size",
                                         "nn.max_pool3d pool_size",
                                         "nn.mirror_pad pad_width",
                                         "nn.pad pad_width",
                                         "nn.space_to_batch_nd paddings",
                                         "nn.upsampling scale_h",
                                         "nn.upsampling scale_w",
                                         "nn.upsampling3d scale_d",
                                         "nn.upsampling3d scale_h",
                                         "nn.upsampling3d scale_w",
                                         "ones shape",
                                         "random.bernoulli out_shape",
                                         "random.normal out_shape",
                                         "random.permutation n",
                                         "random.randint out_shape",
                                         "random.threefry_generate out_shape",
                                         "random.uniform out_shape",
                                         "range_of start",
                                         "range_of step",
                                         "range_of stop",
                                         "reinterpret dtype",
                                         "repeat repeats",
                                         "reshape newshape",
                                         "rotate_axes count",
                                         "save path",
                                         "sliding_window axis",
                                         "sliding_window strides",
                                         "sliding_window window_shape",
                                         "sparse_to_dense output_shape",
                                         "split indices_or_sections",
                                         "strided_slice begin",
                                         "strided_slice end",
                                         "tile reps",
                                         "with_axes least",
                                         "zeros shape"};
  std::set<std::string> found;
  for (const OpDef* op : operators()) {
    if (!is_for_people(*op) || !op->static_form.empty()) continue;
    for (const AttrSpec& attr : op->attrs) {
      if (!relay::lang::attr_default(*op, attr)) found.insert(op->name + " " + attr.name);
    }
  }
  CHECK(found == written);
}

TEST_CASE("attributes that say extents can be computed", "[stdlib]") {
  // The names of attributes of integers that say no extent: axes and positions, and the geometry of
  // a layer, which is as fixed as its kernel.
  const std::set<std::string> others = {"axis",
                                        "axes",
                                        "batch_axis",
                                        "seq_axis",
                                        "batch_dims",
                                        "index_rank",
                                        "num_newaxis",
                                        "padding",
                                        "strides",
                                        "dilation",
                                        "dilations",
                                        "groups",
                                        "deformable_groups",
                                        "num_groups",
                                        "channels",
                                        "kernel_size",
                                        "pool_size",
                                        "output_padding",
                                        "block_size",
                                        "block_shape",
                                        "max_displacement",
                                        "stride1",
                                        "stride2",
                                        "units",
                                        "cubic_exclude",
                                        "digits",
                                        "k1",
                                        "k2",
                                        "ignore_index",
                                        "lhs_begin",
                                        "lhs_end",
                                        "rhs_begin",
                                        "rhs_end",
                                        "hop_length",
                                        "bins",
                                        "levels"};
  // Those that say an extent and are constants.
  const std::map<std::string, std::string> constants = {
      {"split indices_or_sections", "how many results there are is part of the type"},
      {"sliding_window window_shape", "a window may not be longer than the data"},
      {"stft n_fft", "goes with the window, an input"},
      {"stft win_length", "the same"},
      {"nn.lrn size", "no extent of the result"},
      {"load shape", "what the file has; `?` where it is not written"},
      {"polygamma n", "the order of a derivative"},
      {"rotate_axes count", "a number of axes"},
      {"rotate_axes others", "the same"},
      {"with_axes least", "the same"},
      {"torch_op len", "does not run"}};
  std::set<std::string> unknown;
  std::set<std::string> unused;
  for (const auto& [key, reason] : constants) unused.insert(key);
  for (const OpDef* op : operators()) {
    if (!is_for_people(*op) || !op->static_form.empty()) continue;
    for (const AttrSpec& attr : op->attrs) {
      const bool is_integer = attr.kind == AttrKind::Int || attr.kind == AttrKind::IntList ||
                              attr.kind == AttrKind::IntOrIntList || attr.name == "pad_width";
      if (!is_integer || others.contains(attr.name)) continue;
      const std::string key = op->name + " " + attr.name;
      if (constants.contains(key)) {
        unused.erase(key);
        CHECK_FALSE(can_be_computed(*op, attr.name));
      } else if (!can_be_computed(*op, attr.name)) {
        unknown.insert(key);
      }
    }
  }
  CHECK(unknown == std::set<std::string>());
  CHECK(unused == std::set<std::string>());
}
