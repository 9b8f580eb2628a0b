// The external compiler `dnnl`: each call, and each composite, is one primitive of oneDNN.

#include "kernels/dnnl_compiler.h"

#include <array>

#include <fmt/format.h>

#include "kernels/dnnl_step.h"
#include "kernels/step_code.h"

namespace relay::kernels {

namespace {

using lang::CompositePattern;
using lang::ExternalGraph;
using lang::ExternalNode;

std::string refused(const ExternalGraph& graph) {
  DnnlStep step;
  return make_dnnl_step(graph, graph.parameters, graph.nodes.size() - 1, step);
}

// The longest first: a shorter one would take the beginning of a longer one.
std::vector<CompositePattern> all_composites() {
  struct Part {
    std::string_view name;
    std::string_view text;  // `$` is what is before
    std::string_view more;  // parameters
  };
  constexpr std::array<Part, 2> kAnchors = {
      {{"conv2d", "nn.conv2d(x, w)", "x, w"}, {"dense", "nn.dense(x, w)", "x, w"}}};
  constexpr std::array<Part, 8> kMiddles = {{
      // `nn.batch_norm`, as SimplifyInference writes it.
      {"_bn", "add(multiply(multiply(subtract($, m), r), g), b)", ", m, r, g, b"},
      {"_scale_bias", "add(multiply($, s), b)", ", s, b"},
      {"_bias_sum", "add(nn.bias_add($, b), r)", ", b, r"},
      {"_bias_sum", "add(add($, b), r)", ", b, r"},
      {"_bias", "nn.bias_add($, b)", ", b"},
      {"_bias", "add($, b)", ", b"},
      {"_scale", "multiply($, s)", ", s"},
      {"", "$", ""},
  }};
  constexpr std::array<Part, 6> kEnds = {{
      {"_swish", "let y = $; multiply(y, sigmoid(y))", ""},
      {"_relu", "nn.relu($)", ""},
      {"_tanh", "tanh($)", ""},
      {"_sigmoid", "sigmoid($)", ""},
      {"_clip", "clip($)", ""},
      {"", "$", ""},
  }};
  const auto around = [](std::string_view text, const std::string& inner) {
    std::string made(text);
    made.replace(made.find('$'), 1, inner);
    return made;
  };
  std::vector<CompositePattern> made;
  for (const Part& anchor : kAnchors) {
    for (const Part& middle : kMiddles) {
      for (const Part& end : kEnds) {
        if (middle.name.empty() && end.name.empty()) continue;
        const std::string body = around(end.text, around(middle.text, std::string(anchor.text)));
        made.push_back({fmt::format("dnnl.{}{}{}", anchor.name, middle.name, end.name),
                        fmt::format("({}{}) {{ {} }}", anchor.more, middle.more, body), refused});
      }
    }
  }
  return made;
}

class DnnlCompiler final : public lang::ExternalCompiler {
 public:
  std::string name() const override { return "dnnl"; }
  std::string origin() const override { return "oneDNN"; }
  std::string refusal(const ExternalGraph& graph) override { return refused(graph); }
  std::vector<CompositePattern> composites() override { return all_composites(); }

  Made compile(const ExternalGraph& graph) override {
    std::vector<CodeStep> steps;
    for (std::size_t i = graph.parameters; i < graph.nodes.size(); ++i) {
      const ExternalNode& node = graph.nodes[i];
      if (node.kind != ExternalNode::Kind::Call && node.composite < 0) continue;
      std::size_t last = i;
      if (node.composite >= 0)
        last = graph.composites[static_cast<std::size_t>(node.composite)].last;
      DnnlStep step;
      std::string why = make_dnnl_step(graph, i, last, step);
      if (why.empty()) why = step.keep_constants(graph);
      if (!why.empty()) {
        const std::string name =
            node.composite >= 0 ? graph.composites[static_cast<std::size_t>(node.composite)].name
                                : node.op;
        return {nullptr, fmt::format("`{}`: {}", name, why)};
      }
      steps.push_back({step.output.node, [step](const NodeMemory& memory) { step.run(memory); }});
      i = last;
    }
    return {code_of_steps(graph, std::move(steps)), {}};
  }
};

}  // namespace

std::unique_ptr<lang::ExternalCompiler> make_dnnl_compiler() {
  return std::make_unique<DnnlCompiler>();
}

}  // namespace relay::kernels
