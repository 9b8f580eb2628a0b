#include "loops/outline.h"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loops/elimination.h"
#include "loops/factors.h"
#include "loops/free_vars.h"
#include "loops/terms.h"

namespace relay::loops {

namespace {

constexpr double kLarge = 30000;             // products; smaller sums are no library's
constexpr double kManyProducts = 16;         // beside which storing their sum is cheap
constexpr double kOperationsOfKernel = 1e4;  // about what another kernel and its memory cost

// The points at which a node is evaluated.
struct Scope {
  Vars vars;
  bool in_reduce = false;
};

class Outliner {
 public:
  Outliner(Stages& stages, NodeFactory& make, FreeVars& free, SharedTensors& shared,
           lang::Span span)
      : stages_(stages), make_(make), free_(free), shared_(shared), span_(span) {}

  // `id` as it stays over `scope`: what is a tensor of its own is read.
  NodeId inside(NodeId id, const Scope& scope) {
    if (const NodeId now = rewritten(id, scope); now != id) return inside(now, scope);
    const Node at = node(id);  // a copy: nodes move when new ones are made
    if (!at.has_reduce || (at.kind != NodeKind::Primitive && at.kind != NodeKind::Reduce))
      return id;
    Scope below = scope;
    const auto own = stages_.vars(at);
    const Vars reduced(own.begin(), own.end());  // which move, too
    below.vars.insert(below.vars.end(), reduced.begin(), reduced.end());
    below.in_reduce = scope.in_reduce || at.kind == NodeKind::Reduce;
    const auto old = stages_.args(at);
    std::vector<NodeId> args(old.begin(), old.end());
    bool is_same = true;
    for (NodeId& arg : args) {
      const NodeId now = outlined(arg, below);
      is_same = is_same && now == arg;
      arg = now;
    }
    if (is_same) return id;
    return at.kind == NodeKind::Reduce ? make_.reduce(at.op, reduced, args)
                                       : make_.primitive(at.prim, args, at.dtype);
  }

 private:
  const Node& node(NodeId id) const { return make_.node(id); }

  NodeId rewritten(NodeId id, const Scope& scope) {
    const NodeId now = with_choice_outside(id);
    return now == id ? with_sums_inside(stages_, make_, free_, id, scope.vars) : now;
  }

  // A sum of elements or zeros, where the same condition chooses for all of them, is the sum or 0.
  NodeId with_choice_outside(NodeId id) {
    const Node sum = node(id);  // a copy: nodes move when new ones are made
    if (sum.kind != NodeKind::Reduce || sum.op != ReduceOp::Sum) return id;
    const Node element = node(stages_.args(sum)[0]);
    if (element.kind != NodeKind::Primitive || element.prim != Prim::Select) return id;
    const auto own = stages_.vars(sum);
    const Vars reduced(own.begin(), own.end());
    const auto args = stages_.args(element);
    std::array<NodeId, 3> choice = {args[0], args[1], args[2]};
    if (!free_.among(reduced, choice[0]).empty()) return id;
    for (const std::size_t zero : {2, 1}) {
      if (!is_zero(node(choice[zero]))) continue;
      NodeId& chosen = choice[3 - zero];
      chosen = make_.reduce(ReduceOp::Sum, reduced, chosen);
      return make_.primitive(Prim::Select, choice, sum.dtype);
    }
    return id;
  }

  // A node that several scopes share is what it is in the first: a tensor of its own depends on
  // nothing else of the scope.
  NodeId outlined(NodeId id, const Scope& scope) {
    if (!node(id).has_reduce) return id;
    const auto found = done_.find(id);
    if (found != done_.end()) return found->second;
    const Vars vars = free_.among(scope.vars, id);
    const bool is_own = is_evaluated_again(id, vars, scope) || is_large_sum(id, vars, scope);
    const NodeId result = is_own ? own(id, vars) : inside(id, scope);
    done_.emplace(id, result);
    return result;
  }

  NodeId own(NodeId id, const Vars& vars) {
    TensorDef def = tensor_over(stages_, vars, inside(id, {vars}), span_);
    return make_.read_at(shared_.shared(std::move(def)), vars, span_);
  }

  // Would a tensor save more than it costs?
  bool is_evaluated_again(NodeId id, const Vars& vars, const Scope& scope) {
    const double elements = points(vars);
    const double again = points(scope.vars) - elements;
    return again >= elements && elements <= kMostElements && again * cost(id) > kOperationsOfKernel;
  }

  // Such a sum may be a library's.
  bool is_large_sum(NodeId id, const Vars& vars, const Scope& scope) {
    const Node& sum = node(id);
    if (vars.empty() || sum.kind != NodeKind::Reduce || !lang::is_float(sum.dtype) ||
        (sum.op != ReduceOp::Sum && sum.op != ReduceOp::Dot))
      return false;
    const auto reduced = stages_.vars(sum);
    const Vars over(reduced.begin(), reduced.end());
    const double elements = points(vars);
    const double products = points(over);
    if (elements * products < kLarge) return false;
    // What a reduction reads is stored in any case.
    if (scope.in_reduce && (products < kManyProducts || elements > kMostElements)) return false;
    if (sum.op == ReduceOp::Dot) return true;
    const NodeId element = stages_.args(sum)[0];
    return !terms_of(stages_, scaled(stages_, free_, element, over).rest).empty();
  }

  double points(const Vars& vars) const { return points_of(stages_, vars); }

  // Operations for one element, about.
  double cost(NodeId id) {
    const auto found = cost_.find(id);
    if (found != cost_.end()) return found->second;
    double operations = 1;
    for (const NodeId arg : stages_.args(node(id))) operations += cost(arg);
    const auto reduced = stages_.vars(node(id));
    operations *= points({reduced.begin(), reduced.end()});
    return cost_.emplace(id, operations).first->second;
  }

  Stages& stages_;
  NodeFactory& make_;
  FreeVars& free_;
  SharedTensors& shared_;
  lang::Span span_;
  std::unordered_map<NodeId, NodeId> done_;
  std::unordered_map<NodeId, double> cost_;
};

}  // namespace

void outline(Stages& stages, NodeFactory& make, FreeVars& free, SharedTensors& shared,
             TensorDef& def) {
  if (def.kind == TensorKind::Map)
    def.body = Outliner(stages, make, free, shared, def.span).inside(def.body, {def.vars});
}

}  // namespace relay::loops
