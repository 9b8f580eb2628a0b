#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lang/external_compiler.h"

namespace relay::tests {

// An external compiler that takes the operators it is told, and runs those of one float32 tensor to
// another of the same shape that `add_elementwise` names.
class MarkedCompiler : public lang::ExternalCompiler {
 public:
  MarkedCompiler(std::string name, std::set<std::string> operators,
                 std::vector<lang::CompositePattern> patterns = {})
      : name_(std::move(name)), operators_(std::move(operators)), patterns_(std::move(patterns)) {}

  std::string name() const override { return name_; }
  std::string origin() const override { return "a test"; }
  std::string refusal(const lang::ExternalGraph& graph) override {
    return operators_.contains(graph.nodes.back().op) ? "" : "it is not on the list";
  }
  std::vector<lang::CompositePattern> composites() override { return patterns_; }
  // Runs what is made of `negative`, `nn.relu`, `abs`, `add`, `multiply` and tuples.
  Made compile(const lang::ExternalGraph& graph) override;

 private:
  std::string name_;
  std::set<std::string> operators_;
  std::vector<lang::CompositePattern> patterns_;
};

}  // namespace relay::tests
