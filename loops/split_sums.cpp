#include "loops/split_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loops/factors.h"
#include "loops/recognise.h"
#include "loops/terms.h"

namespace relay::loops {

namespace {

constexpr double kReuse = 8;  // of an element that is computed first, at least
// Of left and right: where the library does not take reads as they lie, it may take copies.
constexpr std::pair<bool, bool> kCopies[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

Vars joined(Vars vars, std::span<const IndexVarId> more) {
  vars.insert(vars.end(), more.begin(), more.end());
  return vars;
}

class Splitter {
 public:
  Splitter(Stages& stages, KernelLibrary& library)
      : stages_(stages), library_(library), make_(stages), free_(stages) {}

  void run() {
    const std::size_t count = stages_.tensors.size();
    for (std::size_t at = 0; at < count; ++at) {
      const auto id = static_cast<TensorId>(at);
      const TensorDef& def = stages_.tensors[at];
      if (def.kind != TensorKind::Map || !lang::is_float(def.dtype)) continue;
      const Node& sum = node(def.body);
      if (sum.kind != NodeKind::Reduce || sum.op != ReduceOp::Sum) continue;
      if (recognise(stages_, id).empty()) split(id);
    }
    if (!made_for_.empty()) put_in_front(count);
  }

 private:
  // A sum that a library takes, and what its result is multiplied with and divided by.
  struct Part {
    TensorId tensor;
    std::vector<Factor> outside;
    bool is_subtracted;
  };

  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }
  TensorDef& tensor(TensorId id) { return stages_.tensors[static_cast<std::size_t>(id)]; }
  TensorId next() const { return static_cast<TensorId>(stages_.tensors.size()); }

  // All of the sum, or nothing of it.
  void split(TensorId id) {
    const TensorId first = next();
    const TensorDef def = tensor(id);  // a copy: making tensors moves them
    const Node& sum = node(def.body);
    const auto reduced = stages_.vars(sum);
    const Vars over(reduced.begin(), reduced.end());  // making nodes moves them
    const Scaled element = scaled(stages_, free_, stages_.args(sum)[0], over);
    std::vector<Part> parts;
    for (const Term& term : terms_of(stages_, element.rest)) {
      auto part = part_of(def, over, term);
      if (!part) part = part_of_merged(def, over, term);
      if (!part) {
        stages_.tensors.resize(static_cast<std::size_t>(first));
        return;
      }
      part->is_subtracted = part->is_subtracted != element.is_negative;
      parts.push_back(std::move(*part));
    }
    if (parts.empty()) return;
    made_for_.emplace(id, std::pair(first, next()));
    put_together(id, parts, element.outside);
  }

  // Puts what the part is made of behind all tensors.
  std::optional<Part> part_of(const TensorDef& def, const Vars& over, const Term& term) {
    if (const TensorId part = taken(def, over, under_conditions(term, def.dtype)); part >= 0)
      return Part{part, {}, term.is_subtracted};
    // A zero beside what is infinite is another sum than no product there.
    if (!term.conditions.empty()) return std::nullopt;
    auto factors = factors_of(stages_, free_, term.product, def.vars, over);
    if (!factors) return std::nullopt;
    TensorId part = -1;
    for (const auto& [copies_left, copies_right] : kCopies) {
      const TensorId first = next();
      const auto left = operand(factors->left, def, over, copies_left);
      const auto right = operand(factors->right, def, over, copies_right);
      if (left && right) {
        const std::array both = {*left, *right};
        part = taken(def, over, make_.primitive(Prim::Mul, both, def.dtype));
      }
      if (part >= 0) break;
      stages_.tensors.resize(static_cast<std::size_t>(first));
    }
    if (part < 0) return std::nullopt;
    return Part{part, std::move(factors->outside), term.is_subtracted != factors->is_negative};
  }

  // A product with a sum in it, as one sum: sum k { (sum l { a[i, k, l] * b[j, l] }) * c[j, k] } is
  // sum k, l { a[i, k, l] * (b[j, l] * c[j, k]) }.
  std::optional<Part> part_of_merged(const TensorDef& def, const Vars& over, const Term& term) {
    if (!term.conditions.empty()) return std::nullopt;
    const auto flat = flat_product(stages_, term.product);
    if (!flat) return std::nullopt;
    std::vector<Factor> factors = flat->factors;
    const auto sum = std::find_if(factors.begin(), factors.end(), [&](const Factor& factor) {
      const Node& inner = node(factor.node);
      return !factor.is_divisor && inner.kind == NodeKind::Reduce && inner.op == ReduceOp::Sum;
    });
    if (sum == factors.end()) return std::nullopt;
    const Vars around = joined(def.vars, over);
    // Otherwise it would be added up again for each point of what it does not depend on.
    if (free_.among(around, sum->node).size() < around.size()) return std::nullopt;
    const auto reduced = stages_.vars(node(sum->node));
    const Vars all = joined(over, reduced);
    sum->node = stages_.args(node(sum->node))[0];
    const NodeId product = product_of(make_, factors, -1, def.dtype);
    return part_of(def, all, {product, {}, term.is_subtracted != flat->is_negative});
  }

  NodeId under_conditions(const Term& term, DType dtype) {
    NodeId value = term.product;
    for (std::size_t i = term.conditions.size(); i-- > 0;) {
      const std::array chosen = {term.conditions[i], value, make_.constant(dtype, 0)};
      value = make_.primitive(Prim::Select, chosen, dtype);
    }
    return value;
  }

  // The sum of `element` over `over`, as a tensor; -1 where the library does not take it.
  TensorId taken(TensorDef def, const Vars& over, NodeId element) {
    def.name.clear();
    def.body = make_.reduce(ReduceOp::Sum, over, element);
    const TensorId id = next();
    stages_.tensors.push_back(std::move(def));
    const std::vector<Recognised> found = recognise(stages_, id);
    const bool is_taken = std::any_of(found.begin(), found.end(), [&](const Recognised& call) {
      return library_.choose(call.form) != nullptr;
    });
    if (is_taken) return id;
    stages_.tensors.pop_back();
    return -1;
  }

  // The product of these factors: a read as it is, or copied; what is more as a tensor of its own,
  // which is read. No value where that would not pay.
  std::optional<NodeId> operand(const std::vector<Factor>& factors, const TensorDef& def,
                                const Vars& over, bool copies) {
    const bool is_read = factors.size() == 1 && node(factors[0].node).kind == NodeKind::Read;
    if (is_read && !copies) return factors[0].node;
    if (!is_read && copies) return std::nullopt;  // it lies as it is wanted
    const NodeId product = product_of(make_, factors, -1, def.dtype);
    const Vars scope = joined(def.vars, over);
    const Vars vars = free_.among(scope, product);
    const double elements = points_of(stages_, vars);
    if (elements > kMostElements || elements * kReuse > points_of(stages_, scope))
      return std::nullopt;
    const TensorId id = next();
    stages_.tensors.push_back(tensor_over(stages_, vars, product, def.span));
    return make_.read_at(id, vars, def.span);
  }

  // The tensor is made of its parts.
  void put_together(TensorId id, const std::vector<Part>& parts,
                    const std::vector<Factor>& outside) {
    TensorDef& def = tensor(id);
    std::vector<Summand> summands;
    for (const Part& part : parts) {
      const NodeId read = make_.read_at(part.tensor, def.vars, def.span);
      summands.push_back({product_of(make_, part.outside, read, def.dtype), part.is_subtracted});
    }
    def.body = product_of(make_, outside, sum_of(make_, summands, def.dtype), def.dtype);
  }

  // The first `count` tensors, each behind those that were made for it.
  void put_in_front(std::size_t count) {
    std::vector<TensorDef> tensors;
    std::vector<TensorId> places(stages_.tensors.size());
    const auto put = [&](TensorId id) {
      places[static_cast<std::size_t>(id)] = static_cast<TensorId>(tensors.size());
      tensors.push_back(std::move(tensor(id)));
    };
    for (std::size_t at = 0; at < count; ++at) {
      const auto id = static_cast<TensorId>(at);
      if (const auto own = made_for_.find(id); own != made_for_.end()) {
        for (TensorId made = own->second.first; made < own->second.second; ++made) put(made);
      }
      put(id);
    }
    stages_.tensors = std::move(tensors);
    // Nodes of what was tried in vain may read tensors that are gone.
    const auto move = [&](TensorId& id) {
      const auto at = static_cast<std::size_t>(id);
      if (id >= 0 && at < places.size()) id = places[at];
    };
    for (Node& node : stages_.nodes) {
      if (node.kind == NodeKind::Read) move(node.ref);
    }
    for (TensorDef& def : stages_.tensors) move(def.init);
    for (TensorId& result : stages_.results) move(result);
  }

  Stages& stages_;
  KernelLibrary& library_;
  NodeFactory make_;
  FreeVars free_;
  std::map<TensorId, std::pair<TensorId, TensorId>> made_for_;  // first and behind the last
};

}  // namespace

void split_sums(Stages& stages, KernelLibrary& library) { Splitter(stages, library).run(); }

}  // namespace relay::loops
