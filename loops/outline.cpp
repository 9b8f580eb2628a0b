#include "loops/outline.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "loops/terms.h"

namespace relay::loops {

namespace {

constexpr double kLarge = 30000;  // products; smaller sums are no library's

class Outliner {
 public:
  Outliner(Stages& stages, NodeFactory& make, std::span<const IndexVarId> vars, lang::Span span)
      : stages_(stages), make_(make), vars_(vars), span_(span) {}

  NodeId run(NodeId id) {
    const auto found = done_.find(id);
    if (found != done_.end()) return found->second;
    const NodeId result = fresh(id);
    done_.emplace(id, result);
    return result;
  }

 private:
  const Node& node(NodeId id) const { return make_.node(id); }

  NodeId fresh(NodeId id) {
    const Node at = node(id);  // a copy: nodes move when new ones are made
    if (!at.has_reduce) return id;
    if (at.kind == NodeKind::Reduce) return outlined(id);
    if (at.kind != NodeKind::Primitive) return id;
    std::array<NodeId, 3> args{};
    const auto old = stages_.args(at);
    std::copy(old.begin(), old.end(), args.begin());
    bool is_same = true;
    for (std::size_t i = 0; i < at.arg_count; ++i) {
      const NodeId arg = run(args[i]);
      is_same = is_same && arg == args[i];
      args[i] = arg;
    }
    return is_same ? id : make_.primitive(at.prim, {args.data(), at.arg_count}, at.dtype);
  }

  NodeId outlined(NodeId id) {
    const Node sum = node(id);
    if (sum.op != ReduceOp::Sum || !lang::is_float(sum.dtype)) return id;
    if (terms_of(stages_, stages_.args(sum)[0]).empty()) return id;
    std::unordered_set<IndexVarId> used;
    std::unordered_set<NodeId> seen;
    collect(id, used, seen);
    TensorDef def;
    double products = 1;
    for (const IndexVarId var : stages_.vars(sum)) products *= extent_of(var);
    std::vector<NodeId> indices;
    for (const IndexVarId var : vars_) {
      if (!used.count(var)) continue;
      products *= extent_of(var);
      def.vars.push_back(var);
      def.shape.push_back(stages_.var_extents[static_cast<std::size_t>(var)]);
      indices.push_back(make_.var(var));
    }
    if (products < kLarge || def.vars.empty()) return id;
    def.dtype = sum.dtype;
    def.body = id;
    def.span = span_;
    stages_.tensors.push_back(std::move(def));
    const auto tensor = static_cast<TensorId>(stages_.tensors.size() - 1);
    return make_.read(tensor, indices, false, span_);
  }

  double extent_of(IndexVarId var) const {
    return static_cast<double>(stages_.var_extents[static_cast<std::size_t>(var)]);
  }

  void collect(NodeId id, std::unordered_set<IndexVarId>& used, std::unordered_set<NodeId>& seen) {
    if (!seen.insert(id).second) return;
    if (node(id).kind == NodeKind::IndexVar) used.insert(node(id).ref);
    for (const NodeId arg : stages_.args(node(id))) collect(arg, used, seen);
  }

  Stages& stages_;
  NodeFactory& make_;
  std::span<const IndexVarId> vars_;
  lang::Span span_;
  std::unordered_map<NodeId, NodeId> done_;
};

}  // namespace

NodeId outline_sums(Stages& stages, NodeFactory& make, NodeId body,
                    std::span<const IndexVarId> vars, lang::Span span) {
  if (make.node(body).kind == NodeKind::Reduce) return body;
  return Outliner(stages, make, vars, span).run(body);
}

}  // namespace relay::loops
