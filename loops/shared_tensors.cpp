#include "loops/shared_tensors.h"

#include <unordered_map>
#include <utility>

namespace relay::loops {

namespace {

constexpr std::size_t kMostNodes = 300;

// A body as numbers: its nodes, operands first, with index variables by the order in which they are
// bound.
class Writer {
 public:
  Writer(const Stages& stages, std::vector<std::int64_t>& key) : stages_(stages), key_(key) {}

  void bind(std::span<const IndexVarId> vars) {
    for (const IndexVarId var : vars) {
      vars_.emplace(var, static_cast<std::int64_t>(vars_.size()));
      key_.push_back(stages_.var_extents[static_cast<std::size_t>(var)]);
    }
  }

  // False where there are too many nodes.
  bool write(NodeId id) {
    if (numbers_.contains(id)) return true;
    if (numbers_.size() == kMostNodes) return false;
    const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
    bind(stages_.vars(node));
    const auto args = stages_.args(node);
    for (const NodeId arg : args) {
      if (!write(arg)) return false;
    }
    const bool is_var = node.kind == NodeKind::IndexVar;
    for (const std::int64_t part :
         {static_cast<std::int64_t>(node.kind), static_cast<std::int64_t>(node.dtype),
          static_cast<std::int64_t>(node.prim), static_cast<std::int64_t>(node.op),
          std::int64_t{node.is_checked}, std::int64_t{node.is_guarded},
          is_var ? vars_.at(node.ref) : node.ref, static_cast<std::int64_t>(node.bits),
          static_cast<std::int64_t>(node.var_count), static_cast<std::int64_t>(args.size())})
      key_.push_back(part);
    for (const IndexVarId var : stages_.vars(node)) key_.push_back(vars_.at(var));
    for (const NodeId arg : args) key_.push_back(numbers_.at(arg));
    numbers_.emplace(id, static_cast<std::int64_t>(numbers_.size()));
    return true;
  }

 private:
  const Stages& stages_;
  std::vector<std::int64_t>& key_;
  std::unordered_map<IndexVarId, std::int64_t> vars_;
  std::unordered_map<NodeId, std::int64_t> numbers_;
};

}  // namespace

TensorId SharedTensors::add(TensorDef def) {
  if (def.kind == TensorKind::Map && stages_.nodes[static_cast<std::size_t>(def.body)].has_reduce)
    return shared(std::move(def));
  stages_.tensors.push_back(std::move(def));
  return static_cast<TensorId>(stages_.tensors.size() - 1);
}

TensorId SharedTensors::shared(TensorDef def) {
  const auto next = static_cast<TensorId>(stages_.tensors.size());
  if (auto key = key_of(def)) {
    const auto [known, is_new] = known_.try_emplace(std::move(*key), next);
    if (!is_new) return known->second;
  }
  stages_.tensors.push_back(std::move(def));
  return next;
}

std::optional<SharedTensors::Key> SharedTensors::key_of(const TensorDef& def) const {
  Key key = {static_cast<std::int64_t>(def.vars.size()), static_cast<std::int64_t>(def.point_axes)};
  Writer writer(stages_, key);
  writer.bind(def.vars);
  if (!writer.write(def.body)) return std::nullopt;
  return key;
}

}  // namespace relay::loops
