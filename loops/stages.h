#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lang/dtype.h"
#include "lang/op.h"
#include "lang/primitive.h"
#include "lang/source.h"
#include "lang/tensor.h"

// A group between its expression and its kernels: tensors, each defined element by element over
// index variables by a graph of scalar nodes. Operators are expanded, names are gone, all extents
// are numbers. What is a kernel of its own and what dissolves into its readers is decided on this
// form (loops/inline).
namespace relay::loops {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;

using NodeId = std::int32_t;
using TensorId = std::int32_t;
using IndexVarId = std::int32_t;

enum class NodeKind : std::uint8_t {
  IndexVar,  // int64
  Constant,
  Primitive,
  Read,  // tensor[indices], which are int64; args has `guard` behind them, a bool, if there is one
  Reduce,  // folds args[0] over `vars`; Dot the products of args[0] and args[1]
};

// Equal nodes are one node.
struct Node {
  NodeKind kind = NodeKind::Constant;
  DType dtype = DType::Int64;
  Prim prim = Prim::Add;
  ReduceOp op = ReduceOp::Sum;
  bool is_checked = false;  // Read: bounds are checked at run time
  bool is_guarded = false;  // Read: counts, and may fail, only where its guard is true
  bool has_reduce = false;  // here or below
  bool has_read = false;
  std::int32_t ref = -1;        // IndexVar: its number; Read: the tensor
  std::uint64_t bits = 0;       // Constant
  std::uint32_t first_arg = 0;  // in Stages::operands
  std::uint32_t arg_count = 0;
  std::uint32_t first_var = 0;  // Reduce; in Stages::operands
  std::uint32_t var_count = 0;
  lang::Span span;                      // Read, for errors
  const lang::OpDef* reader = nullptr;  // Read: whose definition it stands in, if any
};

enum class TensorKind : std::uint8_t {
  Argument,  // a leaf argument
  Literal,   // a constant of the program
  Map,       // element [vars] is `body`
  Scatter,   // a copy of `init`, then element [indices] combined with `body` for all vars
  Whole,     // a primitive of whole tensors, of `init`
};

struct TensorDef {
  TensorKind kind = TensorKind::Map;
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // Argument, Literal
  std::int32_t leaf = -1;             // Argument: which; Literal: index into Stages::literals
  std::vector<IndexVarId> vars;       // Map, Scatter
  // Map: so many leading axes are index variables of bodies that it was made in, not its own.
  std::size_t point_axes = 0;
  std::string name = {};  // Map: what a `let` outside of index bodies binds it to; empty: none does
  NodeId body = -1;
  ReduceOp op = ReduceOp::Sum;                                    // Scatter
  lang::TensorPrimitive primitive = lang::TensorPrimitive::None;  // Whole
  TensorId init = -1;                                             // Scatter, Whole
  std::vector<NodeId> indices;
  lang::Span span;
};

struct Stages {
  std::vector<Node> nodes;
  std::vector<std::int32_t> operands;
  std::vector<std::int64_t> var_extents;  // by index variable
  std::vector<std::string> var_names;     // likewise, as written; empty: nobody wrote it
  std::vector<TensorDef> tensors;         // what a tensor reads stands before it
  std::vector<lang::TensorRef> literals;
  std::vector<TensorId> results;  // leaves of the group's result

  std::span<const std::int32_t> args(const Node& node) const {
    return {operands.data() + node.first_arg, node.arg_count};
  }
  std::span<const std::int32_t> indices(const Node& read) const {
    return args(read).first(read.arg_count - (read.is_guarded ? 1 : 0));
  }
  NodeId guard(const Node& read) const { return args(read).back(); }
  std::span<const std::int32_t> vars(const Node& node) const {
    return {operands.data() + node.first_var, node.var_count};
  }
};

// These nodes and those below, each once, as visit(id, node).
template <class F>
void for_each_node(const Stages& stages, std::vector<NodeId> roots, const F& visit) {
  std::set<NodeId> seen;
  while (!roots.empty()) {
    const NodeId id = roots.back();
    roots.pop_back();
    if (!seen.insert(id).second) continue;
    const Node& node = stages.nodes[static_cast<std::size_t>(id)];
    visit(id, node);
    const auto args = stages.args(node);
    roots.insert(roots.end(), args.begin(), args.end());
  }
}

// The reads in these nodes and below, each once.
std::vector<NodeId> reads_of(const Stages& stages, std::vector<NodeId> roots);

// Elements of a shape, points of a loop. Fails with OutOfMemory, and Unsupported, where bytes of
// them, and their number, are beyond int64.
std::int64_t count_of(std::span<const std::int64_t> shape);
std::int64_t points_of(std::span<const std::int64_t> extents);
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape);

// A tensor over `vars` whose elements are `body`.
TensorDef tensor_over(const Stages& stages, std::span<const IndexVarId> vars, NodeId body,
                      lang::Span span);

// Makes nodes, folding what is constant. Nodes that are there before it are not found again.
class NodeFactory {
 public:
  explicit NodeFactory(Stages& stages);

  IndexVarId new_var(std::int64_t extent, std::string name = {});
  NodeId var(IndexVarId id);
  NodeId constant(DType dtype, std::uint64_t bits);
  NodeId index_constant(std::int64_t value) {
    return constant(DType::Int64, static_cast<std::uint64_t>(value));
  }
  NodeId primitive(Prim prim, std::span<const NodeId> args, DType result);
  NodeId cast(NodeId node, DType dtype);
  // `guard`: a bool, or -1 for none.
  NodeId read(TensorId tensor, std::span<const NodeId> indices, bool is_checked, lang::Span span,
              const lang::OpDef* reader = nullptr, NodeId guard = -1);
  // The element at these variables, which is there.
  NodeId read_at(TensorId tensor, std::span<const IndexVarId> vars, lang::Span span);
  // `operands`: the element; of Dot, its two factors.
  NodeId reduce(ReduceOp op, std::span<const IndexVarId> vars, std::span<const NodeId> operands);
  NodeId reduce(ReduceOp op, std::span<const IndexVarId> vars, NodeId element) {
    return reduce(op, vars, std::span(&element, 1));
  }

  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }

 private:
  NodeId intern(Node node, std::span<const std::int32_t> args, std::span<const std::int32_t> vars);
  NodeId fold_integers(Prim prim, std::span<const NodeId> args);
  void grow();

  Stages& stages_;
  std::vector<NodeId> table_;  // open addressing; -1: free
  std::vector<std::uint64_t> hashes_;
};

}  // namespace relay::loops
