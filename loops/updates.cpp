#include "loops/updates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lang/lowerable.h"

namespace relay::loops {

namespace {

constexpr std::int64_t kPointsOfSlices = 8;  // for each point of a slice, at least

class UpdateSearch {
 public:
  UpdateSearch(Stages& stages, StorageChoice& choice) : stages_(stages), choice_(choice) {}

  std::map<TensorId, std::vector<SliceRead>> run() {
    const std::set<TensorId> results(stages_.results.begin(), stages_.results.end());
    for (const TensorId result : results) {
      if (is_candidate(result)) examine(result);
    }
    return std::move(found_);
  }

 private:
  const TensorDef& tensor(TensorId id) const {
    return stages_.tensors[static_cast<std::size_t>(id)];
  }
  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }
  std::int64_t extent(IndexVarId var) const {
    return stages_.var_extents[static_cast<std::size_t>(var)];
  }

  bool is_candidate(TensorId id) const {
    const TensorDef& def = tensor(id);
    return def.kind == TensorKind::Map && count_of(def.shape) >= kFewestInPlace &&
           choice_.storage[static_cast<std::size_t>(id)] == Storage::Stored &&
           !choice_.library.contains(id);
  }

  void examine(TensorId result) {
    std::map<TensorId, std::vector<NodeId>> by_argument;
    for (const NodeId read : reads_of(stages_, {tensor(result).body})) {
      if (tensor(node(read).ref).kind == TensorKind::Argument)
        by_argument[node(read).ref].push_back(read);
    }
    for (auto& [argument, reads] : by_argument) {
      if (examine(result, argument, reads)) return;
    }
  }

  bool examine(TensorId result, TensorId argument, std::vector<NodeId> reads) {
    const TensorDef& from = tensor(argument);
    const TensorDef& to = tensor(result);
    if (from.dtype != to.dtype || from.shape != to.shape || from.strides != row_major(from.shape) ||
        is_read_by_others(result, argument))
      return false;
    const std::size_t all = reads.size();
    std::erase_if(reads, [&](NodeId read) { return is_in_place(to, node(read)); });
    if (reads.empty() || reads.size() == all) return false;
    std::vector<std::vector<IndexVarId>> vars;
    std::int64_t points = 0;
    for (const NodeId read : reads) {
      auto used = vars_of_slice(to, node(read));
      if (!used) return false;
      std::int64_t count = 1;
      for (const IndexVarId var : *used) count *= extent(var);
      points += count;
      vars.push_back(std::move(*used));
    }
    if (points > count_of(to.shape) / kPointsOfSlices) return false;
    std::vector<SliceRead>& slices = found_[result];
    std::map<std::vector<NodeId>, TensorId> known;  // by indices
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const auto indices = stages_.indices(node(reads[i]));
      TensorId& slice = known.try_emplace({indices.begin(), indices.end()}, -1).first->second;
      if (slice < 0) slice = add_slice(reads[i], vars[i]);
      slices.push_back({reads[i], slice, std::move(vars[i])});
    }
    return true;
  }

  // Tensors behind the result might read the argument after its memory is another's.
  bool is_read_by_others(TensorId result, TensorId argument) const {
    const auto& results = stages_.results;
    if (std::find(results.begin(), results.end(), argument) != results.end()) return true;
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const TensorDef& def = stages_.tensors[at];
      const auto id = static_cast<TensorId>(at);
      if (id == result || choice_.storage[at] == Storage::Nowhere) continue;
      if (def.init == argument) return true;
      if (def.body < 0 || (choice_.storage[at] == Storage::Stored && id < result)) continue;
      std::vector<NodeId> roots = def.indices;
      roots.push_back(def.body);
      const std::vector<NodeId> reads = reads_of(stages_, std::move(roots));
      if (std::any_of(reads.begin(), reads.end(),
                      [&](NodeId read) { return node(read).ref == argument; }))
        return true;
    }
    return false;
  }

  bool is_in_place(const TensorDef& def, const Node& read) const {
    const auto indices = stages_.indices(read);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Node& index = node(indices[i]);
      const bool is_same = index.kind == NodeKind::IndexVar && index.ref == def.vars[i];
      if (!is_same && def.shape[i] != 1) return false;
    }
    return true;
  }

  // The variables of `def` that the read depends on, where these are not all of them, and its
  // indices can be computed anywhere.
  std::optional<std::vector<IndexVarId>> vars_of_slice(const TensorDef& def,
                                                       const Node& read) const {
    std::set<IndexVarId> used;
    const auto indices = stages_.indices(read);
    std::vector<NodeId> left(indices.begin(), indices.end());
    while (!left.empty()) {
      const Node& at = node(left.back());
      left.pop_back();
      switch (at.kind) {
        case NodeKind::IndexVar:
          used.insert(at.ref);
          break;
        case NodeKind::Constant:
          break;
        case NodeKind::Primitive:
          if (lang::divides_integers(at.prim, at.dtype)) return std::nullopt;
          break;
        case NodeKind::Read:  // of a scalar
          if (at.arg_count > 0) return std::nullopt;
          break;
        case NodeKind::Reduce:
          return std::nullopt;
      }
      const auto args = stages_.args(at);
      left.insert(left.end(), args.begin(), args.end());
    }
    std::vector<IndexVarId> vars;
    for (const IndexVarId var : def.vars) {
      if (used.erase(var) > 0) vars.push_back(var);
    }
    if (!used.empty() || vars.size() == def.vars.size()) return std::nullopt;
    return vars;
  }

  TensorId add_slice(NodeId read, const std::vector<IndexVarId>& vars) {
    TensorDef def;
    def.dtype = node(read).dtype;
    def.span = node(read).span;
    NodeFactory make(stages_);
    std::unordered_map<IndexVarId, NodeId> renamed;
    for (const IndexVarId var : vars) {
      def.shape.push_back(extent(var));
      def.vars.push_back(make.new_var(extent(var)));
      renamed[var] = make.var(def.vars.back());
    }
    std::vector<NodeId> indices;
    const auto old = stages_.indices(node(read));
    for (const NodeId index : std::vector<NodeId>(old.begin(), old.end()))
      indices.push_back(rename(index, renamed, make));
    def.body = make.read(node(read).ref, indices, false, node(read).span);
    stages_.tensors.push_back(std::move(def));
    choice_.storage.push_back(Storage::Stored);
    return static_cast<TensorId>(stages_.tensors.size() - 1);
  }

  NodeId rename(NodeId id, const std::unordered_map<IndexVarId, NodeId>& renamed,
                NodeFactory& make) const {
    const Node at = node(id);
    if (at.kind == NodeKind::IndexVar) return renamed.at(at.ref);
    if (at.kind != NodeKind::Primitive) return id;
    const auto old = stages_.args(at);
    std::vector<NodeId> args;
    for (const NodeId arg : std::vector<NodeId>(old.begin(), old.end()))
      args.push_back(rename(arg, renamed, make));
    return make.primitive(at.prim, args, at.dtype);
  }

  Stages& stages_;
  StorageChoice& choice_;
  std::map<TensorId, std::vector<SliceRead>> found_;
};

}  // namespace

std::map<TensorId, std::vector<SliceRead>> find_updates(Stages& stages, StorageChoice& choice) {
  return UpdateSearch(stages, choice).run();
}

}  // namespace relay::loops
