#include "loops/stored_reads.h"

#include <algorithm>

namespace relay::loops {

namespace {

class Reader {
 public:
  Reader(const Stages& stages, const StorageChoice& choice)
      : stages_(stages), choice_(choice), seen_(stages.nodes.size(), -1) {}

  std::vector<std::vector<TensorId>> run() {
    reads_.resize(stages_.tensors.size());
    for (std::size_t at = 0; at < stages_.tensors.size(); ++at) {
      const TensorDef& def = stages_.tensors[at];
      const auto id = static_cast<TensorId>(at);
      if (choice_.storage[at] == Storage::Nowhere) continue;
      if (const auto step = choice_.library.find(id); step != choice_.library.end()) {
        add(step->second.call.left, reads_[at]);
        add(step->second.call.right, reads_[at]);
        if (step->second.start >= 0) add(step->second.start, reads_[at]);
      } else {
        if (def.init >= 0) add(def.init, reads_[at]);
        if (def.body >= 0) visit(def.body, id);
        for (NodeId index : def.indices) visit(index, id);
      }
      std::vector<TensorId>& list = reads_[at];
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return std::move(reads_);
  }

 private:
  void add(TensorId tensor, std::vector<TensorId>& to) const {
    if (choice_.storage[static_cast<std::size_t>(tensor)] == Storage::Stored) {
      to.push_back(tensor);
      return;
    }
    const auto& through = reads_[static_cast<std::size_t>(tensor)];
    to.insert(to.end(), through.begin(), through.end());
  }

  void visit(NodeId root, TensorId reader) {
    std::vector<NodeId> left = {root};
    while (!left.empty()) {
      const NodeId id = left.back();
      left.pop_back();
      if (seen_[static_cast<std::size_t>(id)] == reader) continue;
      seen_[static_cast<std::size_t>(id)] = reader;
      const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
      if (node.kind == NodeKind::Read) add(node.ref, reads_[static_cast<std::size_t>(reader)]);
      const auto args = stages_.args(node);
      left.insert(left.end(), args.begin(), args.end());
    }
  }

  const Stages& stages_;
  const StorageChoice& choice_;
  std::vector<TensorId> seen_;  // by node: whose walk met it last
  std::vector<std::vector<TensorId>> reads_;
};

}  // namespace

std::vector<std::vector<TensorId>> stored_reads(const Stages& stages, const StorageChoice& choice) {
  return Reader(stages, choice).run();
}

}  // namespace relay::loops
