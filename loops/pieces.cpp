#include "loops/pieces.h"

#include <algorithm>
#include <set>

namespace relay::loops {

namespace {

constexpr std::size_t kFewestPieces = 4;         // but for long ones
constexpr std::int64_t kFewestPoints = 512;      // of a piece, on average
constexpr std::int64_t kLong = 8'192;            // elements of a piece
constexpr std::int64_t kShortestRun = 64;        // elements of a piece that lie together
constexpr std::int64_t kFewestBordered = 8'192;  // elements
constexpr std::size_t kFewestBorders = 4;

const Node& node_at(const Stages& stages, NodeId id) {
  return stages.nodes[static_cast<std::size_t>(id)];
}

// The element of an inlined tensor at the same place?
const TensorDef* read_through(const Stages& stages, std::span<const Storage> storage,
                              const TensorDef& def, const Node& node) {
  if (node.kind != NodeKind::Read || node.is_guarded) return nullptr;
  const TensorDef& source = stages.tensors[static_cast<std::size_t>(node.ref)];
  if (storage[static_cast<std::size_t>(node.ref)] != Storage::Inlined ||
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

// An index that is a variable, or that more or less a number, as far as it is not held at an end:
// the number.
std::optional<std::int64_t> offset_from(const Stages& stages, NodeId id, IndexVarId var) {
  const Node& node = node_at(stages, id);
  if (node.kind == NodeKind::IndexVar)
    return node.ref == var ? std::optional<std::int64_t>(0) : std::nullopt;
  if (node.kind != NodeKind::Primitive || node.arg_count != 2) return std::nullopt;
  const auto args = stages.args(node);
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& number = node_at(stages, args[1 - i]);
    if (number.kind != NodeKind::Constant) continue;
    const auto inner = offset_from(stages, args[i], var);
    if (!inner) return std::nullopt;
    const auto value = static_cast<std::int64_t>(number.bits);
    switch (node.prim) {
      case Prim::Add:
        return *inner + value;
      case Prim::Sub:
        return i == 0 ? std::optional(*inner - value) : std::nullopt;
      case Prim::Min:
      case Prim::Max:
        return inner;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

// Where comparisons of each index turn: the first point at which one has another outcome.
void add_turns(const Stages& stages, std::span<const Storage> storage, const TensorDef& def,
               std::vector<std::set<std::int64_t>>& turns) {
  for_each_node(stages, {def.body}, [&](NodeId, const Node& node) {
    if (const TensorDef* source = read_through(stages, storage, def, node))
      add_turns(stages, storage, *source, turns);
    if (node.kind != NodeKind::Primitive || node.dtype != DType::Bool || node.arg_count != 2)
      return;
    const Node& bound = node_at(stages, stages.args(node)[1]);
    if (bound.kind != NodeKind::Constant || bound.dtype != DType::Int64) return;
    std::optional<std::int64_t> offset;
    std::size_t axis = 0;
    for (; !offset && axis < def.vars.size(); ++axis)
      offset = offset_from(stages, stages.args(node)[0], def.vars[axis]);
    if (!offset) return;
    std::set<std::int64_t>& own = turns[axis - 1];
    const std::int64_t number = static_cast<std::int64_t>(bound.bits) - *offset;
    const bool is_equality = node.prim == Prim::Eq || node.prim == Prim::Ne;
    if (node.prim == Prim::Lt || node.prim == Prim::Ge || is_equality) own.insert(number);
    if (node.prim == Prim::Le || node.prim == Prim::Gt || is_equality) own.insert(number + 1);
  });
}

// Turns that stand close together, as those of the borders of windows do.
bool are_mostly_short(const Pieces& pieces, std::int64_t run) {
  std::size_t short_ones = 0;
  std::int64_t begin = 0;
  for (const std::int64_t end : pieces.ends) {
    if ((end - begin) * run < kShortestRun) ++short_ones;
    begin = end;
  }
  return 2 * short_ones > pieces.ends.size();
}

// Has each piece so many elements that a loop of its own is worth it?
bool are_long(const Pieces& pieces, std::int64_t elements_at_point) {
  std::int64_t begin = 0;
  for (const std::int64_t end : pieces.ends) {
    if ((end - begin) * elements_at_point < kLong) return false;
    begin = end;
  }
  return pieces.ends.size() > 1;
}

// What stands between the borders of the last axis, in large tensors with several borders.
std::optional<Pieces> interior(const TensorDef& def, const std::set<std::int64_t>& turns) {
  const std::int64_t extent = def.shape.back();
  if (count_of(def.shape) < kFewestBordered || turns.size() < kFewestBorders) return std::nullopt;
  Pieces pieces{def.shape.size() - 1, {}};
  std::int64_t low = 0;
  std::int64_t high = extent;
  for (const std::int64_t turn : turns) {
    if (turn > 0 && turn <= extent / 8) low = turn;
    if (turn >= extent - extent / 8 && turn < high) high = turn;
  }
  if (low > 0) pieces.ends.push_back(low);
  if (high < extent) pieces.ends.push_back(high);
  pieces.ends.push_back(extent);
  return pieces.ends.size() > 1 ? std::optional(pieces) : std::nullopt;
}

}  // namespace

std::optional<Pieces> find_pieces(const Stages& stages, std::span<const Storage> storage,
                                  TensorId id) {
  const TensorDef& def = stages.tensors[static_cast<std::size_t>(id)];
  if (def.vars.empty() || def.vars.size() != def.shape.size() || count_of(def.shape) == 0)
    return std::nullopt;
  std::vector<std::set<std::int64_t>> turns(def.vars.size());
  add_turns(stages, storage, def, turns);
  std::optional<Pieces> best;
  std::int64_t run = 1;  // elements behind the axis
  for (std::size_t axis = def.shape.size(); axis-- > 0; run *= def.shape[axis]) {
    Pieces pieces{axis, {}};
    for (const std::int64_t turn : turns[axis]) {
      if (turn > 0 && turn < def.shape[axis]) pieces.ends.push_back(turn);
    }
    pieces.ends.push_back(def.shape[axis]);
    const auto count = static_cast<std::int64_t>(pieces.ends.size());
    const bool are_enough = pieces.ends.size() >= kFewestPieces ||
                            are_long(pieces, count_of(def.shape) / def.shape[axis]);
    if (!are_enough || def.shape[axis] / count * run < kShortestRun ||
        count_of(def.shape) / count < kFewestPoints || are_mostly_short(pieces, run))
      continue;
    if (!best || pieces.ends.size() > best->ends.size()) best = std::move(pieces);
  }
  return best ? best : interior(def, turns.back());
}

namespace {

// Of points that begin where the variable is `begin`.
class RowSearch {
 public:
  RowSearch(const Stages& stages, std::span<const Storage> storage, std::int64_t count)
      : stages_(stages), storage_(storage), count_(count) {}

  std::int64_t least() const { return least_; }

  void visit(const TensorDef& def, std::size_t axis, std::int64_t begin, int levels) {
    const IndexVarId var = def.vars[axis];
    for_each_node(stages_, {def.body}, [&](NodeId, const Node& node) {
      if (node.kind == NodeKind::Primitive && node.arg_count == 2 && node.dtype == DType::Int64)
        return divide(node, var, begin);
      if (node.kind != NodeKind::Read || levels == 0) return;
      const TensorDef& source = stages_.tensors[static_cast<std::size_t>(node.ref)];
      if (storage_[static_cast<std::size_t>(node.ref)] != Storage::Inlined ||
          source.kind != TensorKind::Map)
        return;
      const auto indices = stages_.indices(node);
      for (std::size_t i = 0; i < indices.size() && i < source.vars.size(); ++i) {
        const auto offset = offset_from(stages_, indices[i], var);
        if (offset && source.shape[i] > 1) visit(source, i, begin + *offset, levels - 1);
      }
    });
  }

 private:
  void divide(const Node& node, IndexVarId var, std::int64_t begin) {
    const bool divides = node.prim == Prim::Div || node.prim == Prim::FloorDiv ||
                         node.prim == Prim::Mod || node.prim == Prim::FloorMod;
    const Node& by = node_at(stages_, stages_.args(node)[1]);
    if (!divides || by.kind != NodeKind::Constant) return;
    const auto offset = offset_from(stages_, stages_.args(node)[0], var);
    if (!offset || begin + *offset != 0) return;
    const auto length = static_cast<std::int64_t>(by.bits);
    if (length > 1 && length < count_ && count_ % length == 0 && (least_ == 0 || length < least_))
      least_ = length;
  }

  const Stages& stages_;
  std::span<const Storage> storage_;
  const std::int64_t count_;
  std::int64_t least_ = 0;
};

}  // namespace

std::int64_t find_row_length(const Stages& stages, std::span<const Storage> storage,
                             const TensorDef& def, std::size_t axis, std::int64_t begin,
                             std::int64_t end) {
  constexpr int kLevels = 4;  // of tensors that dissolve into one another
  RowSearch search(stages, storage, end - begin);
  search.visit(def, axis, begin, kLevels);
  return search.least();
}

}  // namespace relay::loops
