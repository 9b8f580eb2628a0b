#include "loops/split_sums.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "loops/recognise.h"
#include "loops/terms.h"

namespace relay::loops {

namespace {

using Sums = std::map<TensorId, std::vector<Term>>;

// The tensors whose elements are sums of several products.
Sums sums_of_products(const Stages& stages) {
  Sums sums;
  for (std::size_t at = 0; at < stages.tensors.size(); ++at) {
    const TensorDef& def = stages.tensors[at];
    if (def.kind != TensorKind::Map || !lang::is_float(def.dtype)) continue;
    const Node& sum = stages.nodes[static_cast<std::size_t>(def.body)];
    if (sum.kind != NodeKind::Reduce || sum.op != ReduceOp::Sum) continue;
    std::vector<Term> terms = terms_of(stages, stages.args(sum)[0]);
    if (terms.size() > 1) sums.emplace(static_cast<TensorId>(at), std::move(terms));
  }
  return sums;
}

class Splitter {
 public:
  Splitter(Stages& stages, KernelLibrary& library)
      : stages_(stages), library_(library), make_(stages) {}

  void run(Sums sums) {
    std::map<TensorId, std::vector<TensorDef>> parts;
    std::erase_if(sums, [&](const Sums::value_type& sum) {
      auto made = parts_of(stages_.tensors[static_cast<std::size_t>(sum.first)], sum.second);
      return made.empty() || !parts.emplace(sum.first, std::move(made)).second;
    });
    if (sums.empty()) return;
    const std::vector<TensorId> places = put_in_front(std::move(parts));
    for (const auto& [id, terms] : sums) put_together(places[static_cast<std::size_t>(id)], terms);
  }

 private:
  // A sum of each term alone; empty where the library does not take one of them.
  std::vector<TensorDef> parts_of(TensorDef def, const std::vector<Term>& terms) {
    const auto vars = stages_.vars(stages_.nodes[static_cast<std::size_t>(def.body)]);
    const std::vector<IndexVarId> reduced(vars.begin(), vars.end());  // making nodes moves them
    def.name.clear();
    std::vector<TensorDef> parts;
    for (const Term& term : terms) {
      def.body = make_.reduce(ReduceOp::Sum, reduced, under_conditions(term, def.dtype));
      if (!is_taken(def)) return {};
      parts.push_back(def);
    }
    return parts;
  }

  NodeId under_conditions(const Term& term, DType dtype) {
    NodeId value = term.product;
    for (std::size_t i = term.conditions.size(); i-- > 0;) {
      const std::array chosen = {term.conditions[i], value, make_.constant(dtype, 0)};
      value = make_.primitive(Prim::Select, chosen, dtype);
    }
    return value;
  }

  bool is_taken(const TensorDef& part) {
    stages_.tensors.push_back(part);
    const std::vector<Recognised> found =
        recognise(stages_, static_cast<TensorId>(stages_.tensors.size() - 1));
    stages_.tensors.pop_back();
    return std::any_of(found.begin(), found.end(), [&](const Recognised& call) {
      return library_.choose(call.form) != nullptr;
    });
  }

  // Puts the parts of a tensor in front of it. Where the tensors stand now.
  std::vector<TensorId> put_in_front(std::map<TensorId, std::vector<TensorDef>> parts) {
    std::vector<TensorDef> tensors;
    std::vector<TensorId> places;
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      if (const auto own = parts.find(static_cast<TensorId>(at)); own != parts.end())
        std::move(own->second.begin(), own->second.end(), std::back_inserter(tensors));
      places.push_back(static_cast<TensorId>(tensors.size()));
      tensors.push_back(std::move(stages_.tensors[at]));
    }
    stages_.tensors = std::move(tensors);
    const auto move = [&](TensorId& id) {
      if (id >= 0) id = places[static_cast<std::size_t>(id)];
    };
    for (Node& node : stages_.nodes) {
      if (node.kind == NodeKind::Read) move(node.ref);
    }
    for (TensorDef& def : stages_.tensors) move(def.init);
    for (TensorId& result : stages_.results) move(result);
    return places;
  }

  // The tensor is made of its parts, which stand in front of it.
  void put_together(TensorId id, const std::vector<Term>& terms) {
    TensorDef& def = stages_.tensors[static_cast<std::size_t>(id)];
    std::vector<NodeId> indices;
    for (IndexVarId& var : def.vars) {
      var = make_.new_var(stages_.var_extents[static_cast<std::size_t>(var)],
                          stages_.var_names[static_cast<std::size_t>(var)]);
      indices.push_back(make_.var(var));
    }
    TensorId part = id - static_cast<TensorId>(terms.size());
    const auto next = [&] { return make_.read(part++, indices, false, def.span); };
    def.body = next();
    if (terms[0].is_subtracted)
      def.body = make_.primitive(Prim::Neg, std::array{def.body}, def.dtype);
    for (std::size_t i = 1; i < terms.size(); ++i) {
      const Prim prim = terms[i].is_subtracted ? Prim::Sub : Prim::Add;
      def.body = make_.primitive(prim, std::array{def.body, next()}, def.dtype);
    }
  }

  Stages& stages_;
  KernelLibrary& library_;
  NodeFactory make_;
};

}  // namespace

void split_sums(Stages& stages, KernelLibrary& library) {
  Sums sums = sums_of_products(stages);
  if (!sums.empty()) Splitter(stages, library).run(std::move(sums));
}

}  // namespace relay::loops
