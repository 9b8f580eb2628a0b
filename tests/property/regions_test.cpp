// Regions of random graphs, for two compilers that take operators at random: programs keep every
// bit, whatever is joined, and no region waits for its own results.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "repl/session.h"
#include "tests/support/marked_compiler.h"
#include "tests/support/passed_program.h"
#include "tests/support/property.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

constexpr std::uint64_t kGraphs = 150;
const std::vector<std::string> kUnary = {"negative", "nn.relu", "abs", "floor"};
const std::vector<std::string> kBinary = {"add", "multiply", "maximum"};

// Steps that use what is before them, tuples and branches among them.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : state_(seed * 2654435761U + 1) {}

  std::string text() {
    std::string body;
    std::vector<std::string> values = {"x", "y"};
    const std::size_t steps = 3 + below(14);
    for (std::size_t i = 0; i < steps; ++i) {
      const std::string name = "v" + std::to_string(i);
      body += "  let " + name + " = " + step(values) + ";\n";
      values.push_back(name);
    }
    std::string result = values.back();
    for (std::size_t i = 0; i < 2; ++i) result += ", " + any(values);
    return "def f(c: bool, x: Tensor[(3), float32], y: Tensor[(3), float32]) {\n" + body + "  (" +
           result + ")\n}\n";
  }

  std::set<std::string> some_operators() {
    std::set<std::string> taken;
    for (const char* name : {"negative", "nn.relu", "abs", "add", "multiply"}) {
      if (below(2) == 0) taken.insert(name);
    }
    return taken;
  }

 private:
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % limit;
  }
  const std::string& any(const std::vector<std::string>& values) {
    return values[below(values.size())];
  }
  std::string operation(const std::vector<std::string>& values) {
    if (below(2) == 0) return kUnary[below(kUnary.size())] + "(" + any(values) + ")";
    return kBinary[below(kBinary.size())] + "(" + any(values) + ", " + any(values) + ")";
  }
  std::string step(const std::vector<std::string>& values) {
    switch (below(8)) {
      case 0:
        return "if c { " + operation(values) + " } else { " + operation(values) + " }";
      case 1:
        return "(" + any(values) + ", " + operation(values) + ").1";
      default:
        return operation(values);
    }
  }

  std::uint64_t state_;
};

TEST_CASE("random regions for two compilers keep every bit") {
  for (const std::uint64_t seed : seeds(kGraphs)) {
    RandomGraph graph(seed);
    const std::string text = graph.text();
    const auto a = graph.some_operators();
    const auto b = graph.some_operators();
    const auto add_to = [&](repl::Session& session) {
      session.add_compiler(std::make_unique<MarkedCompiler>("a", a));
      session.add_compiler(std::make_unique<MarkedCompiler>("b", b));
    };
    repl::Session written(quiet_options());
    add_to(written);
    INFO("seed " << seed << "\n" << text);
    REQUIRE(written.run("graph", text, nullptr).empty());
    const std::string call =
        "(f(True, [1.5, -2.0, 0.25], [0.5, 3.0, -1.0]), f(False, [1.5, -2.0, 0.25], [0.5, 3.0, "
        "-1.0]))";
    const auto expected = written.evaluate(call);
    REQUIRE(expected);
    for (const char* passes :
         {"AnnotateExternalCompiler(a, b), PartitionGraph",
          "AnnotateTarget(b, a, include_non_call_ops=False), MergeCompilerRegions, "
          "MergeCompilerRegions, PartitionGraph",
          "AnnotateTarget(a), AnnotateTarget(b), PartitionGraph"}) {
      const auto passed = written.optimised({.passes = passes});
      REQUIRE(passed);
      INFO(passes << "\n" << passed->text);
      repl::Session made(quiet_options());
      add_to(made);
      REQUIRE(made.run("made", passed->text, nullptr).empty());
      const auto found = made.evaluate(call);
      REQUIRE(found);
      CHECK(same_bits(*found, *expected));
    }
  }
}

}  // namespace
}  // namespace relay::tests
