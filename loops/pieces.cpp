#include "loops/pieces.h"

#include <algorithm>
#include <set>

namespace relay::loops {

namespace {

constexpr std::size_t kFewestPieces = 4;
constexpr std::int64_t kFewestPoints = 512;  // of a piece, on average
constexpr std::int64_t kShortestRun = 64;    // elements of a piece that lie together

template <class F>
void for_each_node(const Stages& stages, NodeId root, const F& visit) {
  std::set<NodeId> seen;
  std::vector<NodeId> left = {root};
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (!seen.insert(id).second) continue;
    const Node& node = stages.nodes[static_cast<std::size_t>(id)];
    visit(node);
    const auto args = stages.args(node);
    left.insert(left.end(), args.begin(), args.end());
  }
}

const Node& node_at(const Stages& stages, NodeId id) {
  return stages.nodes[static_cast<std::size_t>(id)];
}

// The element of an inlined tensor at the same place?
const TensorDef* read_through(const Stages& stages, const StorageChoice& choice,
                              const TensorDef& def, const Node& node) {
  if (node.kind != NodeKind::Read || node.is_guarded) return nullptr;
  const TensorDef& source = stages.tensors[static_cast<std::size_t>(node.ref)];
  if (choice.storage[static_cast<std::size_t>(node.ref)] != Storage::Inlined ||
      source.kind != TensorKind::Map || source.shape != def.shape)
    return nullptr;
  const auto indices = stages.indices(node);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Node& index = node_at(stages, indices[i]);
    const bool is_same = index.kind == NodeKind::IndexVar && index.ref == def.vars[i];
    if (!is_same && def.shape[i] != 1) return nullptr;
  }
  return &source;
}

// Where comparisons of each index turn: the first point at which one has another outcome.
void add_turns(const Stages& stages, const StorageChoice& choice, const TensorDef& def,
               std::vector<std::set<std::int64_t>>& turns) {
  for_each_node(stages, def.body, [&](const Node& node) {
    if (const TensorDef* source = read_through(stages, choice, def, node))
      add_turns(stages, choice, *source, turns);
    if (node.kind != NodeKind::Primitive || node.dtype != DType::Bool || node.arg_count != 2)
      return;
    const Node& index = node_at(stages, stages.args(node)[0]);
    const Node& bound = node_at(stages, stages.args(node)[1]);
    if (index.kind != NodeKind::IndexVar || bound.kind != NodeKind::Constant ||
        bound.dtype != DType::Int64)
      return;
    const auto found = std::find(def.vars.begin(), def.vars.end(), index.ref);
    if (found == def.vars.end()) return;
    std::set<std::int64_t>& own = turns[static_cast<std::size_t>(found - def.vars.begin())];
    const auto number = static_cast<std::int64_t>(bound.bits);
    const bool is_equality = node.prim == Prim::Eq || node.prim == Prim::Ne;
    if (node.prim == Prim::Lt || node.prim == Prim::Ge || is_equality) own.insert(number);
    if (node.prim == Prim::Le || node.prim == Prim::Gt || is_equality) own.insert(number + 1);
  });
}

}  // namespace

std::optional<Pieces> find_pieces(const Stages& stages, const StorageChoice& choice, TensorId id) {
  const TensorDef& def = stages.tensors[static_cast<std::size_t>(id)];
  if (def.vars.empty() || def.vars.size() != def.shape.size()) return std::nullopt;
  std::vector<std::set<std::int64_t>> turns(def.vars.size());
  add_turns(stages, choice, def, turns);
  std::optional<Pieces> best;
  std::int64_t run = 1;  // elements behind the axis
  for (std::size_t axis = def.shape.size(); axis-- > 0; run *= def.shape[axis]) {
    Pieces pieces{axis, {}};
    for (const std::int64_t turn : turns[axis]) {
      if (turn > 0 && turn < def.shape[axis]) pieces.ends.push_back(turn);
    }
    pieces.ends.push_back(def.shape[axis]);
    const auto count = static_cast<std::int64_t>(pieces.ends.size());
    if (pieces.ends.size() < kFewestPieces || def.shape[axis] / count * run < kShortestRun ||
        count_of(def.shape) / count < kFewestPoints)
      continue;
    if (!best || pieces.ends.size() > best->ends.size()) best = std::move(pieces);
  }
  return best;
}

std::int64_t find_row_length(const Stages& stages, const TensorDef& def, std::size_t axis) {
  const std::int64_t extent = def.shape[axis];
  std::int64_t least = 0;
  for_each_node(stages, def.body, [&](const Node& node) {
    if (node.kind != NodeKind::Primitive || node.arg_count != 2 || node.dtype != DType::Int64)
      return;
    const bool divides = node.prim == Prim::Div || node.prim == Prim::FloorDiv ||
                         node.prim == Prim::Mod || node.prim == Prim::FloorMod;
    const Node& index = node_at(stages, stages.args(node)[0]);
    const Node& by = node_at(stages, stages.args(node)[1]);
    if (!divides || index.kind != NodeKind::IndexVar || index.ref != def.vars[axis] ||
        by.kind != NodeKind::Constant)
      return;
    const auto length = static_cast<std::int64_t>(by.bits);
    if (length > 1 && length < extent && extent % length == 0 && (least == 0 || length < least))
      least = length;
  });
  return least;
}

}  // namespace relay::loops
