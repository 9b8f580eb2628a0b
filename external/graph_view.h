#pragma once

#include <deque>
#include <string>
#include <vector>

#include "include/relay_codegen.h"
#include "lang/external_graph.h"

namespace relay::external {

DLDataType dl_type(lang::DType dtype);
// A tensor of DLPack without data. `shape` must outlive it.
DLTensor dl_tensor(lang::DType dtype, std::vector<std::int64_t>& shape);
// {"strides": [1, 1], "data_layout": "NCHW"}
std::string attributes_json(const lang::AttrsRef& attrs);

// A graph as plug-ins see it. Needs the graph to live on.
class GraphView {
 public:
  explicit GraphView(const lang::ExternalGraph& graph);
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;
  const RelayGraph* get() const { return &graph_; }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<std::int64_t>> shapes_;
  std::deque<std::vector<RelayValue>> values_;
  std::deque<std::vector<DLTensor>> tensors_;
  std::vector<RelayNode> nodes_;
  std::vector<RelayComposite> composites_;
  RelayGraph graph_{};
};

}  // namespace relay::external
