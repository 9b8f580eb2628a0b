#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/external_graph.h"

// Compilers that are none of ours: a function with the fact `Compiler="x"` is run by the one that
// is called x. Nothing is thrown over this border, since a compiler may stand in a shared object:
// what goes wrong is a text, and an empty one says that nothing did.
namespace relay::lang {

// What no compiler takes is marked with this name.
inline constexpr std::string_view kNoCompiler = "default";

// A function as its compiler has made it.
class ExternalCode {
 public:
  virtual ~ExternalCode() = default;
  // Row-major tensors of the function's types; `results` are written. Called by one thread at a
  // time. `threads`: how many may share the work.
  virtual std::string run(std::span<const TensorRef> args, std::span<const TensorRef> results,
                          int threads) = 0;
};

// Several operators that a compiler runs as one step.
struct CompositePattern {
  std::string name;  // `dnnl.conv2d_bias_relu`
  // What stands behind the name in `pattern NAME(x, y) { nn.relu(x + y) }` (opt/pattern.h).
  std::string pattern;
  // Of the operators that were found: why the compiler does not run them so; empty: it does. Null:
  // it runs all.
  std::function<std::string(const ExternalGraph& graph)> refusal = nullptr;
};

class ExternalCompiler {
 public:
  virtual ~ExternalCompiler() = default;
  virtual std::string name() const = 0;
  // Where it comes from, for people.
  virtual std::string origin() const = 0;
  // Why it does not run this call, whose arguments are the parameters and constants of a graph of
  // one call; empty: it does.
  virtual std::string refusal(const ExternalGraph& graph) = 0;
  // In the order in which they are tried.
  virtual std::vector<CompositePattern> composites() { return {}; }
  struct Made {
    std::unique_ptr<ExternalCode> code;
    std::string error;  // where there is no code
  };
  virtual Made compile(const ExternalGraph& graph) = 0;
};

// Those that there are.
class ExternalCompilers {
 public:
  virtual ~ExternalCompilers() = default;
  virtual std::vector<std::string> names() const = 0;
  // Loads it if need be. Throws Failure at `place`: an unknown name, with the mend; one that does
  // not load.
  virtual ExternalCompiler& get(const std::string& name, Span place) = 0;
};

}  // namespace relay::lang
