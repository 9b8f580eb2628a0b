#include "kernels/step_code.h"

#include <cstring>
#include <new>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "lang/diagnostic.h"

namespace relay::kernels {

namespace {

using lang::ExternalNode;
using lang::TensorRef;

class StepCode final : public lang::ExternalCode {
 public:
  StepCode(const lang::ExternalGraph& graph, std::vector<CodeStep> steps)
      : parameters_(graph.parameters),
        nodes_(graph.nodes),
        results_(graph.results),
        steps_(std::move(steps)) {}

  std::string run(std::span<const TensorRef> args, std::span<const TensorRef> results,
                  int /*threads*/) override {
    return error_of([&] {
      compute(args, results);
      return std::string();
    });
  }

 private:
  void compute(std::span<const TensorRef> args, std::span<const TensorRef> results) const {
    std::vector<TensorRef> made;  // between the steps
    NodeMemory memory(nodes_.size());
    for (std::size_t i = 0; i < parameters_; ++i) memory[i] = args[i]->data();
    for (std::size_t i = parameters_; i < nodes_.size(); ++i) {
      if (nodes_[i].constant) memory[i] = nodes_[i].constant->data();
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!memory[results_[i].node]) memory[results_[i].node] = results[i]->data();
    }
    for (const CodeStep& step : steps_) {
      std::byte*& place = memory[step.result];
      if (!place) {
        const lang::ExternalType& type = nodes_[step.result].outputs[0];
        made.push_back(lang::Tensor::make(type.dtype, type.shape));
        place = made.back()->data();
      }
      step.run(memory);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const lang::Tensor& result = *results[i];
      const std::byte* const given = memory[results_[i].node];
      if (given == result.data()) continue;
      std::memcpy(result.data(), given,
                  static_cast<std::size_t>(result.element_count()) * lang::size_of(result.dtype()));
    }
  }

  std::size_t parameters_;
  std::vector<ExternalNode> nodes_;
  std::vector<lang::ExternalValue> results_;
  std::vector<CodeStep> steps_;
};

}  // namespace

std::unique_ptr<lang::ExternalCode> code_of_steps(const lang::ExternalGraph& graph,
                                                  std::vector<CodeStep> steps) {
  return std::make_unique<StepCode>(graph, std::move(steps));
}

std::string error_of(const std::function<std::string()>& work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    return fmt::format("oneDNN has failed: {}", error.message);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const lang::Failure& failure) {
    return failure.diagnostics.front().message;
  }
}

}  // namespace relay::kernels
