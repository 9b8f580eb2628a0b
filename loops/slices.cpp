#include "loops/slices.h"

#include <algorithm>
#include <optional>

#include "loops/recognise.h"

namespace relay::loops {

namespace {

// Elements [begin, end) along each axis.
struct Box {
  std::vector<std::int64_t> begin, end;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < begin.size(); ++i) product *= end[i] - begin[i];
    return product;
  }
  bool meets(const Box& other) const {
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (end[i] <= other.begin[i] || other.end[i] <= begin[i]) return false;
    }
    return true;
  }
};

class Finder {
 public:
  Finder(const Stages& stages, std::span<const Storage> storage)
      : stages_(stages), storage_(storage) {}

  std::vector<SliceChain> run() {
    std::vector<SliceChain> chains;
    std::vector<bool> is_inner(stages_.tensors.size(), false);
    for (std::size_t at = stages_.tensors.size(); at-- > 0;) {
      const auto id = static_cast<TensorId>(at);
      if (is_inner[at] || def(id).kind != TensorKind::Scatter || storage_[at] != Storage::Stored)
        continue;
      SliceChain chain{{id}, false};
      while (goes_on(stages_, storage_, def(chain.links.back()).init, chain.links.back())) {
        chain.links.push_back(def(chain.links.back()).init);
        is_inner[static_cast<std::size_t>(chain.links.back())] = true;
      }
      std::reverse(chain.links.begin(), chain.links.end());
      if (are_slices(chain)) chains.push_back(std::move(chain));
    }
    return chains;
  }

 private:
  const TensorDef& def(TensorId id) const { return stages_.tensors[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }

  bool are_slices(SliceChain& chain) const {
    if (!is_zeros(stages_, def(chain.links[0]).init)) return false;
    std::vector<Box> boxes;
    std::int64_t filled = 0;
    for (const TensorId link : chain.links) {
      auto box = box_of(def(link));
      if (!box) return false;
      for (const Box& other : boxes) {
        if (box->meets(other)) return false;
      }
      filled += box->count();
      boxes.push_back(std::move(*box));
    }
    chain.fills_all = filled == count_of(def(chain.links[0]).shape);
    return true;
  }

  // Where each of the scatter's variables is the index of one axis, and moved by a constant.
  std::optional<Box> box_of(const TensorDef& scatter) const {
    if (scatter.op != ReduceOp::Sum) return std::nullopt;
    Box box;
    std::vector<IndexVarId> rest;
    for (IndexVarId var : scatter.vars) {
      const std::int64_t extent = stages_.var_extents[static_cast<std::size_t>(var)];
      if (extent == 0) return std::nullopt;
      if (extent > 1) rest.push_back(var);
    }
    for (std::size_t axis = 0; axis < scatter.indices.size(); ++axis) {
      std::int64_t begin = 0;
      std::int64_t length = 1;
      std::vector<NodeId> terms = {scatter.indices[axis]};
      while (!terms.empty()) {
        const Node& term = node(terms.back());
        terms.pop_back();
        if (term.kind == NodeKind::Primitive && term.prim == Prim::Add) {
          const auto args = stages_.args(term);
          terms.insert(terms.end(), args.begin(), args.end());
        } else if (term.kind == NodeKind::Constant) {
          begin += static_cast<std::int64_t>(term.bits);
        } else {
          const auto found = std::find(rest.begin(), rest.end(), term.ref);
          if (term.kind != NodeKind::IndexVar || found == rest.end() || length != 1)
            return std::nullopt;
          length = stages_.var_extents[static_cast<std::size_t>(term.ref)];
          rest.erase(found);
        }
      }
      if (begin < 0 || length > scatter.shape[axis] || begin > scatter.shape[axis] - length)
        return std::nullopt;
      box.begin.push_back(begin);
      box.end.push_back(begin + length);
    }
    if (!rest.empty()) return std::nullopt;
    return box;
  }

  const Stages& stages_;
  std::span<const Storage> storage_;
};

}  // namespace

bool goes_on(const Stages& stages, std::span<const Storage> storage, TensorId init, TensorId id) {
  if (stages.tensors[static_cast<std::size_t>(init)].kind != TensorKind::Scatter ||
      storage[static_cast<std::size_t>(init)] != Storage::Stored)
    return false;
  const auto is_init = [&](const Node& node) {
    return node.kind == NodeKind::Read && node.ref == init;
  };
  if (std::any_of(stages.nodes.begin(), stages.nodes.end(), is_init)) return false;
  for (std::size_t other = 0; other < stages.tensors.size(); ++other) {
    if (stages.tensors[other].init == init && static_cast<TensorId>(other) != id) return false;
  }
  return std::find(stages.results.begin(), stages.results.end(), init) == stages.results.end();
}

std::vector<SliceChain> find_slices(const Stages& stages, std::span<const Storage> storage) {
  return Finder(stages, storage).run();
}

}  // namespace relay::loops
