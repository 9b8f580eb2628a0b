#include <algorithm>

#include "lang/build.h"
#include "opt/spatial.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

// The padding that is left when what is cut off the result is not added in the first place; false
// where more is cut off than was added.
bool take_off(Ends& padding, const Ends& crops) {
  for (std::size_t i = 0; i < padding.front.size(); ++i) {
    padding.front[i] -= crops.front[i];
    padding.back[i] -= crops.back[i];
    if (padding.front[i] < 0 || padding.back[i] < 0) return false;
  }
  return true;
}

bool slides_plainly(const lang::Attrs& attrs, std::size_t count) {
  const Ends padding = padding_ends(attrs, count);
  return is_all(padding.front, 0) && is_all(padding.back, 0) &&
         is_all(for_each_axis(attrs, "strides", count), 1) &&
         is_all(for_each_axis(attrs, "dilation", count), 1);
}

// Of `nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(x), w))`: the blocks are the phases of a
// convolution that is dilated by their extents.
Expr as_dilated(const Expr& step, const Definitions& definitions) {
  const auto* to_space = call_of(step, known::batch_to_space_nd);
  const auto* conv = to_space ? definitions.call_of(to_space->args[0], known::conv2d) : nullptr;
  const auto* to_batch =
      conv ? definitions.call_of(conv->args[0], known::space_to_batch_nd) : nullptr;
  if (!to_batch) return nullptr;
  const auto axes = spatial_axes(conv->attrs->get_string("data_layout"));
  // Blocks are taken along the axes behind the batch.
  if (!axes || axes->spatial != std::vector<std::size_t>{1, 2} ||
      conv->attrs->get_string("data_layout").front() != 'N')
    return nullptr;
  const std::string& result = conv->attrs->get_string("out_layout");
  if (!result.empty() && result != conv->attrs->get_string("data_layout")) return nullptr;
  const auto block = to_batch->attrs->get_ints("block_shape");
  if (block.size() != 2 || to_space->attrs->get_ints("block_shape") != block ||
      to_batch->attrs->get_float("pad_value") != 0 || !slides_plainly(*conv->attrs, 2))
    return nullptr;
  Ends padding = ends_of_pairs(*to_batch->attrs->find("paddings"));
  if (!take_off(padding, ends_of_pairs(*to_space->attrs->find("crops")))) return nullptr;
  return build::op("nn.conv2d", {to_batch->args[0], conv->args[1]},
                   with_attrs(conv->attrs, {{"padding", attr_of_ends(padding)},
                                            {"dilation", lang::AttrValue::ints(block)}}));
}

}  // namespace

Pass flatten_atrous_conv_pass() {
  Pass pass;
  pass.name = "FlattenAtrousConv";
  pass.doc =
      "makes one dilated convolution of `nn.space_to_batch_nd`, `nn.conv2d` and "
      "`nn.batch_to_space_nd`";
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(1, 5, 5, 4), float32], w: Tensor[(3, 3, 4, 2), float32]) {
  let blocks = nn.space_to_batch_nd(x, block_shape=[2, 2], paddings=[[2, 3], [2, 3]]);
  let sums = nn.conv2d(blocks, w, data_layout="NHWC", kernel_layout="HWIO");
  nn.batch_to_space_nd(sums, block_shape=[2, 2], crops=[[0, 1], [0, 1]])
})";
  pass.run = replacing(as_dilated);
  return pass;
}

}  // namespace relay::opt
