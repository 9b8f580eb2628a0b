#include "loops/split_sums.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "loops/recognise.h"

namespace relay::loops {

namespace {

constexpr std::size_t kMostTerms = 4;

// One of the products that the elements of a sum are made of, with the conditions around it.
struct Term {
  NodeId product;
  bool is_subtracted = false;
};

// What an element is made of; false where it is more than a few terms. Each is handed over with the
// conditions around it, outermost first.
template <class Take>
bool for_each_term(const Stages& stages, NodeId id, std::vector<NodeId>& conditions,
                   bool is_subtracted, const Take& take) {
  const Node at = stages.nodes[static_cast<std::size_t>(id)];  // copies: taking one may move them
  const auto span = stages.args(at);
  const std::vector<NodeId> args(span.begin(), span.end());
  const auto is_zero = [&](NodeId arg) {
    const Node& node = stages.nodes[static_cast<std::size_t>(arg)];
    return node.kind == NodeKind::Constant && node.bits == 0;
  };
  const auto each = [&](NodeId arg, bool is_turned) {
    return for_each_term(stages, arg, conditions, is_subtracted != is_turned, take);
  };
  if (at.kind == NodeKind::Primitive) {
    if (at.prim == Prim::Add || at.prim == Prim::Sub)
      return each(args[0], false) && each(args[1], at.prim == Prim::Sub);
    if (at.prim == Prim::Neg) return each(args[0], true);
    if (at.prim == Prim::Select && is_zero(args[2])) {
      conditions.push_back(args[0]);
      const bool is_done = each(args[1], false);
      conditions.pop_back();
      return is_done;
    }
  }
  return take(id, conditions, is_subtracted);
}

class Splitter {
 public:
  Splitter(Stages& stages, KernelLibrary& library)
      : stages_(stages), library_(library), make_(stages) {}

  void run() {
    std::vector<TensorDef> made;
    std::vector<TensorId> places;  // of the tensors that were there
    std::vector<std::pair<TensorId, std::vector<Term>>> split;
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const TensorDef def = stages_.tensors[at];
      const std::vector<Term> terms = terms_of(def);
      if (!terms.empty()) {
        for (const Term& term : terms) made.push_back(sum_of(term, def));
        split.emplace_back(static_cast<TensorId>(made.size()), terms);
      }
      places.push_back(static_cast<TensorId>(made.size()));
      made.push_back(def);
    }
    if (split.empty()) return;
    const auto moved = [&](TensorId& id) {
      if (id >= 0) id = places[static_cast<std::size_t>(id)];
    };
    for (Node& node : stages_.nodes) {
      if (node.kind == NodeKind::Read) moved(node.ref);
    }
    for (TensorDef& def : made) moved(def.init);
    for (TensorId& result : stages_.results) moved(result);
    stages_.tensors = std::move(made);
    for (const auto& [id, terms] : split) put_together(id, terms);
  }

 private:
  // Copies: making nodes moves them.
  Node node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }

  // Empty where the sum stays as it is.
  std::vector<Term> terms_of(const TensorDef& def) {
    if (def.kind != TensorKind::Map || !lang::is_float(def.dtype)) return {};
    const Node sum = node(def.body);
    if (sum.kind != NodeKind::Reduce || sum.op != ReduceOp::Sum) return {};
    std::vector<Term> terms;
    std::vector<NodeId> conditions;
    const auto take = [&](NodeId id, const std::vector<NodeId>& around, bool is_subtracted) {
      if (terms.size() == kMostTerms) return false;
      for (std::size_t i = around.size(); i-- > 0;) {
        const std::array chosen = {around[i], id, make_.constant(def.dtype, 0)};
        id = make_.primitive(Prim::Select, chosen, def.dtype);
      }
      terms.push_back({id, is_subtracted});
      return true;
    };
    const NodeId element = stages_.args(sum)[0];
    if (!for_each_term(stages_, element, conditions, false, take) || terms.size() < 2) return {};
    const bool are_taken = std::all_of(terms.begin(), terms.end(),
                                       [&](const Term& term) { return is_taken(term, def); });
    return are_taken ? terms : std::vector<Term>();
  }

  TensorDef sum_of(const Term& term, const TensorDef& of) {
    TensorDef def = of;
    const auto vars = stages_.vars(node(of.body));
    def.body = make_.reduce(ReduceOp::Sum, std::vector<IndexVarId>(vars.begin(), vars.end()),
                            term.product);
    def.name.clear();
    return def;
  }

  bool is_taken(const Term& term, const TensorDef& of) {
    stages_.tensors.push_back(sum_of(term, of));
    const std::vector<Recognised> found =
        recognise(stages_, static_cast<TensorId>(stages_.tensors.size() - 1));
    stages_.tensors.pop_back();
    return std::any_of(found.begin(), found.end(), [&](const Recognised& call) {
      return library_.choose(call.form) != nullptr;
    });
  }

  // The tensor is made of those in front of it.
  void put_together(TensorId id, const std::vector<Term>& terms) {
    TensorDef def = stages_.tensors[static_cast<std::size_t>(id)];
    std::vector<NodeId> indices;
    for (IndexVarId& var : def.vars) {
      var = make_.new_var(stages_.var_extents[static_cast<std::size_t>(var)],
                          stages_.var_names[static_cast<std::size_t>(var)]);
      indices.push_back(make_.var(var));
    }
    NodeId sum = -1;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto part = static_cast<TensorId>(static_cast<std::size_t>(id) - terms.size() + i);
      const NodeId read = make_.read(part, indices, false, def.span);
      const Prim prim = terms[i].is_subtracted ? Prim::Sub : Prim::Add;
      if (i > 0)
        sum = make_.primitive(prim, std::array{sum, read}, def.dtype);
      else
        sum =
            terms[i].is_subtracted ? make_.primitive(Prim::Neg, std::array{read}, def.dtype) : read;
    }
    def.body = sum;
    stages_.tensors[static_cast<std::size_t>(id)] = std::move(def);
  }

  Stages& stages_;
  KernelLibrary& library_;
  NodeFactory make_;
};

}  // namespace

void split_sums(Stages& stages, KernelLibrary& library) { Splitter(stages, library).run(); }

bool is_of_products(const Stages& stages, NodeId element) {
  std::size_t count = 0;
  std::vector<NodeId> conditions;
  return for_each_term(
      stages, element, conditions, false, [&](NodeId id, const std::vector<NodeId>&, bool) {
        const Node& node = stages.nodes[static_cast<std::size_t>(id)];
        return node.kind == NodeKind::Primitive && node.prim == Prim::Mul && ++count <= kMostTerms;
      });
}

}  // namespace relay::loops
