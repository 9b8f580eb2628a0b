#include "opt/layout_table.h"

#include <algorithm>
#include <array>

#include "lang/op.h"
#include "opt/definitions.h"

namespace relay::opt {

namespace {

// Operators that are one primitive of their operands (OpDef::elementwise) need no row.
const std::array<LayoutRow, 21> kUses = {{
    {lang::NamedOp("nn.conv2d"), LayoutUse::Convolution, "data_layout"},
    {lang::NamedOp("nn.max_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.avg_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.global_max_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.global_avg_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.adaptive_avg_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.adaptive_max_pool2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("image.resize2d"), LayoutUse::Window, "layout"},
    {lang::NamedOp("nn.relu"), LayoutUse::Elements},
    {lang::NamedOp("nn.leaky_relu"), LayoutUse::Elements},
    {lang::NamedOp("sigmoid"), LayoutUse::Elements},
    {lang::NamedOp("clip"), LayoutUse::Elements},
    {lang::NamedOp("cast"), LayoutUse::Elements},
    {lang::NamedOp("copy"), LayoutUse::Elements},
    {lang::NamedOp("relay.op.annotation.simulated_quantize"), LayoutUse::Elements},
    {lang::NamedOp("annotation.stop_fusion"), LayoutUse::Elements},
    {lang::NamedOp("nn.bias_add"), LayoutUse::Bias, "axis"},
    {lang::NamedOp("nn.softmax"), LayoutUse::Axis, "axis"},
    {lang::NamedOp("nn.log_softmax"), LayoutUse::Axis, "axis"},
    {lang::NamedOp("nn.pad"), LayoutUse::Padding, "pad_width"},
    {lang::NamedOp("concatenate"), LayoutUse::Parts, "axis"},
}};
const LayoutRow kElements = {lang::NamedOp(""), LayoutUse::Elements};
const LayoutRow kBroadcast = {lang::NamedOp(""), LayoutUse::Broadcast};

}  // namespace

const LayoutRow* layout_use_of(const lang::Expr& expr) {
  const lang::OpDef* op = operator_of(expr);
  if (!op) return nullptr;
  const auto* found = std::find_if(kUses.begin(), kUses.end(),
                                   [&](const LayoutRow& row) { return row.op.is(*op); });
  if (found != kUses.end()) return found;
  if (!op->elementwise) return nullptr;
  const std::size_t count = lang::cast<lang::Call>(expr).args.size();
  return count == 1 ? &kElements : count == 2 ? &kBroadcast : nullptr;
}

}  // namespace relay::opt
