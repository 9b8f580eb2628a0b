#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lang/expr.h"

// The dataflow of a program as a graph: what is computed, and what of.
namespace relay::plot {

struct FlowNode {
  enum class Kind { Input, Constant, Step, Choice, Function, Result };
  Kind kind = Kind::Step;
  std::string name = {};   // by which the program calls it; empty: by none
  std::string label = {};  // the operator, the value, the type of what comes in
  std::string type = {};   // of what it gives; empty: not known
  std::size_t cluster = 0;
};
struct FlowEdge {
  std::size_t from;
  std::size_t to;
  std::string role = {};  // which branch, and the like
  std::string type = {};  // of what flows
};
inline constexpr std::size_t kNoCluster = static_cast<std::size_t>(-1);
struct FlowCluster {
  std::string label;
  std::size_t parent;  // or kNoCluster
};
struct Dataflow {
  std::vector<FlowCluster> clusters;
  std::vector<FlowNode> nodes;  // each behind what it is made of, but for functions that call
                                // themselves
  std::vector<FlowEdge> edges;
  std::size_t left_out = 0;  // nodes for which there was no room
};

// The typed body of a function that is to be shown beside those that call it, or null.
using FunctionBody = std::function<lang::Expr(const lang::GlobalVar&)>;

// Of a typed expression called `name`, a function by its body, with at most `most` nodes. Index
// notation is one node. The same expression gives the same graph. Cost: linear in the size of what
// is reached.
Dataflow dataflow_of(const std::string& name, const lang::Expr& typed, const FunctionBody& body_of,
                     std::size_t most);

// `(3, 4) float32`, `float32`, and of other types their text, which is cut where it is long.
std::string short_type(const lang::Type& type);

// The graph in Graphviz' language.
std::string dot_of(const Dataflow& flow);

// The graph as lines: each node, what it is made of, and its type.
std::string listing_of(const Dataflow& flow);

}  // namespace relay::plot
