#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "lang/external_graph.h"

// Private to the external compiler `dnnl`.
namespace relay::kernels {

const dnnl::engine& external_engine();

// One primitive of oneDNN, with the tensors that it takes and makes.
class DnnlStep {
 public:
  // A tensor of the graph as the primitive sees it: where it lies, and how it wants it to lie.
  struct Operand {
    int argument = 0;
    std::size_t node = 0;
    dnnl::memory::desc plain;
    dnnl::memory::desc wanted;
  };
  dnnl::primitive primitive;
  std::vector<Operand> inputs;
  Operand output;
  std::size_t scratch = 0;  // bytes

  // Memory of every node that it reads and writes, row-major. Throws dnnl::error, std::bad_alloc.
  void run(const std::vector<std::byte*>& values) const;
};

// The step for the nodes first to last of a graph: one call, or a product or convolution with what
// is done to each element of its result. Empty if it was made; else why not.
std::string make_dnnl_step(const lang::ExternalGraph& graph, std::size_t first, std::size_t last,
                           DnnlStep& step);

}  // namespace relay::kernels
