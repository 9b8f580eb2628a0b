#include "opt/layout_table.h"

#include <algorithm>
#include <array>

#include "lang/op.h"
#include "opt/definitions.h"

namespace relay::opt {

namespace {

// Operators that are one primitive of their operands (OpDef::elementwise) need no row.
constexpr std::array<LayoutRow, 21> kUses = {{
    {"nn.conv2d", LayoutUse::Convolution, "data_layout"},
    {"nn.max_pool2d", LayoutUse::Window, "layout"},
    {"nn.avg_pool2d", LayoutUse::Window, "layout"},
    {"nn.global_max_pool2d", LayoutUse::Window, "layout"},
    {"nn.global_avg_pool2d", LayoutUse::Window, "layout"},
    {"nn.adaptive_avg_pool2d", LayoutUse::Window, "layout"},
    {"nn.adaptive_max_pool2d", LayoutUse::Window, "layout"},
    {"image.resize2d", LayoutUse::Window, "layout"},
    {"nn.relu", LayoutUse::Elements},
    {"nn.leaky_relu", LayoutUse::Elements},
    {"sigmoid", LayoutUse::Elements},
    {"clip", LayoutUse::Elements},
    {"cast", LayoutUse::Elements},
    {"copy", LayoutUse::Elements},
    {"relay.op.annotation.simulated_quantize", LayoutUse::Elements},
    {"annotation.stop_fusion", LayoutUse::Elements},
    {"nn.bias_add", LayoutUse::Bias, "axis"},
    {"nn.softmax", LayoutUse::Axis, "axis"},
    {"nn.log_softmax", LayoutUse::Axis, "axis"},
    {"nn.pad", LayoutUse::Padding, "pad_width"},
    {"concatenate", LayoutUse::Parts, "axis"},
}};
constexpr LayoutRow kElements = {"", LayoutUse::Elements};
constexpr LayoutRow kBroadcast = {"", LayoutUse::Broadcast};

}  // namespace

const LayoutRow* layout_use_of(const lang::Expr& expr) {
  const lang::OpDef* op = operator_of(expr);
  if (!op) return nullptr;
  const auto* found = std::find_if(kUses.begin(), kUses.end(),
                                   [&](const LayoutRow& row) { return row.op == op->name; });
  if (found != kUses.end()) return found;
  if (!op->elementwise) return nullptr;
  const std::size_t count = lang::cast<lang::Call>(expr).args.size();
  return count == 1 ? &kElements : count == 2 ? &kBroadcast : nullptr;
}

}  // namespace relay::opt
