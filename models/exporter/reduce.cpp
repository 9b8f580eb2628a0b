// Reductions, and what is made of several.
#include "models/exporter/reduce.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "models/exporter/operators.h"
#include "models/onnx/write_model.h"

namespace relay::models::exporter {

namespace {

using lang::DType;
using lang::ReduceOp;

// ONNX folds integers of 32 and of 64 bits.
DType wide(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::Int16:
      return DType::Int32;
    case DType::UInt8:
    case DType::UInt16:
      return DType::UInt32;
    default:
      return dtype;
  }
}

std::string converted_to(GraphWriter& graph, const std::string& name, DType from, DType to) {
  return from == to ? name : graph.node("Cast", {name}, {{"to", onnx::number_of(to)}});
}

std::string_view node_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum:
      return "ReduceSum";
    case ReduceOp::Prod:
      return "ReduceProd";
    case ReduceOp::Max:
    case ReduceOp::Any:
      return "ReduceMax";
    case ReduceOp::Min:
    case ReduceOp::All:
      return "ReduceMin";
    case ReduceOp::ArgMax:
      return "ArgMax";
    case ReduceOp::ArgMin:
      return "ArgMin";
    case ReduceOp::Dot:  // a sum by now (Exporter::reduction)
    case ReduceOp::Set:
      break;
  }
  return "";
}

template <ReduceOp kOp>
Value reduction(Call& call) {
  return call.give(reduced(call.graph, kOp, call.in(0), call.dtype(), call.reduced_axes(),
                           call.attrs->get_bool("keepdims")));
}

std::string mean_of(Call& call, const std::string& name) {
  const auto axes = call.reduced_axes();
  if (axes.empty()) return name;
  return call.node("ReduceMean", {name},
                   {{"axes", axes}, {"keepdims", std::int64_t{call.attrs->get_bool("keepdims")}}});
}

Value mean(Call& call) {
  if (!lang::is_float(call.dtype())) call.unsupported("of integers");
  return call.give(mean_of(call, call.in(0)));
}

Value variance(Call& call) {
  const std::string centred = call.node("Sub", {call.in(0), call.in(1)});
  std::string name = mean_of(call, call.node("Mul", {centred, centred}));
  if (call.attrs->get_bool("unbiased")) {
    std::int64_t count = 1;
    for (const std::int64_t axis : call.reduced_axes())
      count *= call.number(call.dims()[static_cast<std::size_t>(axis)], "extent");
    const double factor = static_cast<double>(count) / static_cast<double>(count - 1);
    name = call.node("Mul", {name, call.graph.scalar(factor, call.dtype())});
  }
  return call.give(name);
}

Value log_sum_exp(Call& call) {
  return call.give_node("ReduceLogSumExp",
                        {{"axes", call.reduced_axes()},
                         {"keepdims", std::int64_t{call.attrs->get_bool("keepdims")}}});
}

template <ReduceOp kOp>
Value place(Call& call) {
  const auto axes = call.reduced_axes();
  const bool is_last = call.attrs->get_bool("select_last_index");
  std::string name = call.in(0);
  std::int64_t axis = axes.empty() ? 0 : axes[0];
  const bool is_whole = axes.size() == call.rank(0) && axes.size() != 1;
  if (is_whole) {
    name = call.node("Reshape", {name, call.graph.integers({-1})});
    axis = 0;
  } else if (axes.size() != 1) {
    call.unsupported("over several axes");
  }
  const bool keeps = call.attrs->get_bool("keepdims") && !is_whole;
  name = call.node(node_of(kOp), {name},
                   {{"axis", axis},
                    {"keepdims", std::int64_t{keeps}},
                    {"select_last_index", std::int64_t{is_last}}});
  if (is_whole && call.result().shape.rank() > 0)
    name = reshape(call.graph, name, {}, call.result().shape.dims());
  const DType dtype = call.result().dtype.known();
  return call.give(converted_to(call.graph, name, DType::Int64, dtype));
}

constexpr auto kReduce = std::to_array<Operator>({
    {"all", &reduction<ReduceOp::All>, "`Cast`, `ReduceMin`, `Cast`"},
    {"any", &reduction<ReduceOp::Any>, "`Cast`, `ReduceMax`, `Cast`"},
    {"argmax", &place<ReduceOp::ArgMax>, "`ArgMax`, `Cast`", "over one axis, or all"},
    {"argmin", &place<ReduceOp::ArgMin>, "`ArgMin`, `Cast`", "over one axis, or all"},
    {"logsumexp", &log_sum_exp, "`ReduceLogSumExp`"},
    {"max", &reduction<ReduceOp::Max>, "`ReduceMax`"},
    {"mean", &mean, "`ReduceMean`", "floats"},
    {"min", &reduction<ReduceOp::Min>, "`ReduceMin`"},
    {"prod", &reduction<ReduceOp::Prod>, "`ReduceProd`"},
    {"sum", &reduction<ReduceOp::Sum>, "`ReduceSum`"},
    {"variance", &variance, "`Sub`, `Mul`, `ReduceMean`",
     "`unbiased`: over extents that are numbers"},
});

}  // namespace

std::string reduced(GraphWriter& graph, ReduceOp op, std::string name, DType dtype,
                    const std::vector<std::int64_t>& axes, bool keeps_axes) {
  if (axes.empty()) return name;
  const std::int64_t keeps = keeps_axes;
  const DType folded = wide(dtype);
  name = converted_to(graph, name, dtype, folded);
  if (op == ReduceOp::ArgMax || op == ReduceOp::ArgMin)
    return graph.node(node_of(op), {name}, {{"axis", axes[0]}, {"keepdims", keeps}});
  if (op == ReduceOp::Sum) {
    name = graph.node(node_of(op), {name, graph.integers(axes)}, {{"keepdims", keeps}});
  } else {
    name = graph.node(node_of(op), {name}, {{"axes", axes}, {"keepdims", keeps}});
  }
  return converted_to(graph, name, folded, dtype);
}

std::span<const Operator> reduce_operators() { return kReduce; }

}  // namespace relay::models::exporter
