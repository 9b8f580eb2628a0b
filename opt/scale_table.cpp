#include "opt/scale_table.h"

#include <algorithm>
#include <array>

#include "lang/op.h"
#include "opt/definitions.h"
#include "opt/layout.h"

namespace relay::opt {

namespace {

const std::array<ScalingRow, 21> kScalings = {{
    {lang::NamedOp("copy"), Scaling::Linear},
    {lang::NamedOp("annotation.stop_fusion"), Scaling::Linear},
    {lang::NamedOp("negative"), Scaling::Linear},
    {lang::NamedOp("nn.avg_pool1d"), Scaling::Linear, "layout"},
    {lang::NamedOp("nn.avg_pool2d"), Scaling::Linear, "layout"},
    {lang::NamedOp("nn.avg_pool3d"), Scaling::Linear, "layout"},
    {lang::NamedOp("nn.global_avg_pool2d"), Scaling::Linear, "layout"},
    {lang::NamedOp("nn.relu"), Scaling::Positive},
    {lang::NamedOp("nn.leaky_relu"), Scaling::Positive},
    {lang::NamedOp("nn.max_pool1d"), Scaling::Positive, "layout"},
    {lang::NamedOp("nn.max_pool2d"), Scaling::Positive, "layout"},
    {lang::NamedOp("nn.max_pool3d"), Scaling::Positive, "layout"},
    {lang::NamedOp("nn.global_max_pool2d"), Scaling::Positive, "layout"},
    {lang::NamedOp("add"), Scaling::Sum},
    {lang::NamedOp("subtract"), Scaling::Sum},
    {lang::NamedOp("nn.bias_add"), Scaling::Bias},
    {lang::NamedOp("multiply"), Scaling::Factor},
    {lang::NamedOp("nn.conv1d"), Scaling::Product, "data_layout"},
    {lang::NamedOp("nn.conv2d"), Scaling::Product, "data_layout"},
    {lang::NamedOp("nn.conv3d"), Scaling::Product, "data_layout"},
    // The last axis of its data and of its result; the weight has the results on its first.
    {lang::NamedOp("nn.dense"), Scaling::Product},
}};

}  // namespace

const ScalingRow* scaling_of(const lang::Expr& expr) {
  const lang::OpDef* op = operator_of(expr);
  if (!op) return nullptr;
  const auto* found = std::find_if(kScalings.begin(), kScalings.end(),
                                   [&](const ScalingRow& row) { return row.op.is(*op); });
  return found == kScalings.end() ? nullptr : found;
}

std::optional<ProductAxes> product_axes(const lang::Call& call) {
  const lang::Expr& data = call.args[0];
  ProductAxes axes;
  const lang::AttrValue* layout = call.attrs->find("data_layout");
  if (!layout) {
    axes = {{rank_of(data) - 1}, {1}, {rank_of(data) - 1}, {0}};
  } else {
    const std::string& result = call.attrs->get_string("out_layout");
    const std::string& weight = call.attrs->get_string("kernel_layout");
    axes = {axes_of(*layout->as_string(), 'C'), axes_of(weight, 'I'),
            axes_of(result.empty() ? *layout->as_string() : result, 'C'), axes_of(weight, 'O'),
            call.attrs->get_int("groups")};
  }
  for (const auto* each : {&axes.data, &axes.weight_inputs, &axes.result, &axes.weight_outputs}) {
    if (each->empty()) return std::nullopt;
  }
  return axes;
}

}  // namespace relay::opt
