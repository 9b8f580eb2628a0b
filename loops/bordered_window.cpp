#include "loops/bordered_window.h"

#include <algorithm>
#include <span>

#include "loops/inline.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"

namespace relay::loops {
namespace {

constexpr double kMostOperations = 320;  // of all places: compiling more takes longer than it saves

// Does the value change with what is reduced over, and with an index around it? Linear in its
// graph.
bool changes_with_both(const Stages& stages, NodeId id, std::span<const std::int32_t> vars) {
  bool with_own = false, with_others = false;
  for_each_node(stages, {id}, [&](NodeId, const Node& node) {
    if (node.kind != NodeKind::IndexVar) return;
    const bool is_own = std::find(vars.begin(), vars.end(), node.ref) != vars.end();
    with_own = with_own || is_own;
    with_others = with_others || !is_own;
  });
  return with_own && with_others;
}

}  // namespace

bool is_bordered_window(const Stages& stages, const Node& reduction) {
  const auto args = stages.args(reduction);
  const auto vars = stages.vars(reduction);
  std::int64_t places = 1;
  for (const IndexVarId var : vars) places *= stages.var_extents[static_cast<std::size_t>(var)];
  if (is_arg(reduction.op) || reduction.op == ReduceOp::Dot || places > kReductionLanes ||
      stages.nodes[static_cast<std::size_t>(args[0])].has_reduce)
    return false;
  double cost = 0;
  for_each_node(stages, {args[0]}, [&](NodeId, const Node& node) {
    cost += node.kind == NodeKind::Primitive ? cost_of(node.prim) : 1;
  });
  if (cost * static_cast<double>(places) > kMostOperations) return false;
  bool is_bordered = false;
  for_each_node(stages, {args[0]}, [&](NodeId id, const Node& node) {
    const bool compares =
        node.kind == NodeKind::Primitive && node.dtype == DType::Bool && !node.has_read &&
        stages.nodes[static_cast<std::size_t>(stages.args(node)[0])].dtype == DType::Int64;
    is_bordered = is_bordered || (compares && changes_with_both(stages, id, vars));
  });
  return is_bordered;
}

}  // namespace relay::loops
