#include "loops/pattern.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace relay::loops {
namespace {

// Visits the results and all that they need.
class Classifier {
 public:
  explicit Classifier(const Stages& stages) : stages_(stages), facts_(stages.tensors.size()) {}

  Pattern run() {
    Pattern pattern = Pattern::Elementwise;
    int folds = 0;
    for (std::size_t id = 0; id < stages_.tensors.size(); ++id) derive(static_cast<TensorId>(id));
    std::set<TensorId> seen;
    for (const TensorId result : stages_.results) {
      pattern = std::max(pattern, facts(result).pattern);
      folds += seen.insert(result).second && facts(result).has_fold;
    }
    return folds > 1 ? Pattern::Opaque : pattern;
  }

 private:
  // Of a tensor and what it is made of.
  struct Facts {
    Pattern pattern = Pattern::Elementwise;
    bool has_fold = false;
  };

  const Facts& facts(TensorId id) const { return facts_[static_cast<std::size_t>(id)]; }
  const TensorDef& tensor(TensorId id) const {
    return stages_.tensors[static_cast<std::size_t>(id)];
  }
  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }

  // What a tensor reads stands before it.
  void derive(TensorId id) {
    const TensorDef& def = tensor(id);
    Facts& own = facts_[static_cast<std::size_t>(id)];
    if (def.kind == TensorKind::Scatter || def.kind == TensorKind::Whole)
      own.pattern = Pattern::Opaque;
    if (def.kind != TensorKind::Map) return;
    map_ = &def;
    own_ = &own;
    visited_.clear();
    visit(def.body, {});
  }

  // `folded`: the variables of the reductions around the node.
  void visit(NodeId id, const std::vector<IndexVarId>& folded) {
    if (!visited_.insert(id).second) return;
    const Node& at = node(id);
    if (at.kind == NodeKind::Read) read(at, folded);
    if (at.kind == NodeKind::Reduce) {
      if (own_->has_fold || !folded.empty()) own_->pattern = Pattern::Opaque;
      own_->has_fold = true;
      const auto vars = stages_.vars(at);
      raise(fold_pattern(at));
      std::vector<IndexVarId> inner = folded;
      inner.insert(inner.end(), vars.begin(), vars.end());
      for (const NodeId arg : stages_.args(at)) visit(arg, inner);
      return;
    }
    for (const NodeId arg : stages_.args(at)) visit(arg, folded);
  }

  void raise(Pattern pattern) { own_->pattern = std::max(own_->pattern, pattern); }

  void read(const Node& at, const std::vector<IndexVarId>& folded) {
    const Facts& source = facts(at.ref);
    const Pattern relation = folded.empty() ? relation_of(at) : Pattern::Elementwise;
    if (source.has_fold) {
      // The fold's own elements, one for one, are an epilogue; anything else is a second nest.
      const bool is_epilogue = folded.empty() && relation == Pattern::Elementwise;
      raise(is_epilogue && !own_->has_fold ? source.pattern : Pattern::Opaque);
      own_->has_fold = true;
    } else if (source.pattern == Pattern::Opaque || folded.empty()) {
      raise(std::max(source.pattern, relation));
    }
  }

  bool is_unit_axis(TensorId id, std::size_t axis) const { return tensor(id).shape[axis] == 1; }

  std::optional<std::size_t> position_of(NodeId index) const {
    if (node(index).kind != NodeKind::IndexVar) return std::nullopt;
    const auto found = std::find(map_->vars.begin(), map_->vars.end(), node(index).ref);
    if (found == map_->vars.end()) return std::nullopt;
    return static_cast<std::size_t>(found - map_->vars.begin());
  }

  // How the elements that a read outside of reductions needs lie to those of the map.
  Pattern relation_of(const Node& at) const {
    const auto args = stages_.indices(at);
    if (args.size() > map_->shape.size()) return Pattern::Injective;
    std::size_t next = 0;  // axes of a broadcast operand keep their order
    for (std::size_t axis = 0; axis < args.size(); ++axis) {
      if (is_unit_axis(at.ref, axis)) continue;
      const auto position = position_of(args[axis]);
      const std::int64_t extent = tensor(at.ref).shape[axis];
      if (!position || *position < next || map_->shape[*position] != extent)
        return Pattern::Injective;
      next = *position + 1;
    }
    return tensor(at.ref).shape == map_->shape ? Pattern::Elementwise : Pattern::Broadcast;
  }

  bool mentions(NodeId id, std::span<const IndexVarId> vars) const {
    const Node& at = node(id);
    if (at.kind == NodeKind::IndexVar)
      return std::find(vars.begin(), vars.end(), at.ref) != vars.end();
    const auto args = stages_.args(at);
    return std::any_of(args.begin(), args.end(), [&](NodeId arg) { return mentions(arg, vars); });
  }

  // Of a reduction by itself: does it fold whole axes of one operand?
  Pattern fold_pattern(const Node& fold) const {
    const auto vars = stages_.vars(fold);
    std::set<NodeId> reads;
    for (const NodeId operand : stages_.args(fold)) collect_reads(operand, reads);
    int folded_reads = 0;
    for (const NodeId id : reads) {
      bool is_folded = false;
      for (const NodeId index : stages_.indices(node(id))) {
        if (!mentions(index, vars)) continue;
        is_folded = true;
        if (node(index).kind != NodeKind::IndexVar) return Pattern::Contraction;
      }
      folded_reads += is_folded;
    }
    return folded_reads > 1 ? Pattern::Contraction : Pattern::Reduction;
  }

  void collect_reads(NodeId id, std::set<NodeId>& reads) const {
    if (node(id).kind == NodeKind::Read) reads.insert(id);
    for (const NodeId arg : stages_.args(node(id))) collect_reads(arg, reads);
  }

  const Stages& stages_;
  std::vector<Facts> facts_;
  const TensorDef* map_ = nullptr;
  Facts* own_ = nullptr;
  std::set<NodeId> visited_;
};

}  // namespace

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::Elementwise:
      return "elementwise";
    case Pattern::Broadcast:
      return "broadcast";
    case Pattern::Injective:
      return "injective";
    case Pattern::Reduction:
      return "reduction";
    case Pattern::Contraction:
      return "contraction";
    case Pattern::Opaque:
      return "opaque";
  }
  return "";
}

Pattern pattern_of(const Stages& stages) { return Classifier(stages).run(); }

}  // namespace relay::loops
