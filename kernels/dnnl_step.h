#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/step_code.h"
#include "lang/external_graph.h"

// Private to the external compiler `dnnl`.
namespace relay::kernels {

// One primitive of oneDNN, with the tensors that it takes and makes.
class DnnlStep {
 public:
  // A tensor of the graph as the primitive sees it: where it lies, and how it wants it to lie.
  struct Operand {
    int argument = 0;
    std::size_t node = 0;
    dnnl::memory::desc plain;
    dnnl::memory::desc wanted;
    lang::Ref<lang::Buffer> kept = nullptr;  // a constant as it is wanted
  };
  dnnl::primitive primitive;
  std::vector<Operand> inputs;
  Operand output;
  std::size_t scratch = 0;  // bytes

  // Constants that the primitive wants otherwise than they lie are brought there now, and not by
  // each run. Empty if they were; else why not.
  std::string keep_constants(const lang::ExternalGraph& graph);
  // Throws dnnl::error, std::bad_alloc.
  void run(const NodeMemory& memory) const;
};

// The step for the nodes first to last of a graph: one call, or a product or convolution with what
// is done to each element of its result. Empty if it was made; else why not.
std::string make_dnnl_step(const lang::ExternalGraph& graph, std::size_t first, std::size_t last,
                           DnnlStep& step);

}  // namespace relay::kernels
