#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "loops/index_map.h"
#include "loops/stages.h"

// What a read in an index body reaches in memory, seen through the tensors in between that only
// rearrange another one.
namespace relay::loops {

// An index variable's meaning, by variable.
using IndexEnv = std::unordered_map<IndexVarId, IndexExpr>;

// How one axis of a view is walked: element floor(index / divisor). Where the read stands under a
// condition, elements outside of the axis, and those that the divisor does not divide, count as 0.
struct ViewAxis {
  std::int64_t extent = 1;
  std::int64_t stride = 0;  // in the terminal
  IndexExpr index;
  std::int64_t divisor = 1;
  bool is_masked = false;  // may leave the axis, or does not divide
};

// A strided view of `terminal`, a tensor that has memory or must get it.
struct OperandView {
  TensorId terminal = -1;
  std::int64_t offset = 0;
  std::vector<ViewAxis> axes;
};

class OperandReader {
 public:
  OperandReader(const Stages& stages, IndexSpace& space) : stages_(stages), space_(space) {}

  // The views that the operand `node` of a product is, those nearer to memory first. Empty for what
  // is no read, and where indices are not quasi-affine. `guards`: conditions where one of which
  // does not hold, the product is 0 whatever is read.
  std::vector<OperandView> views_of(NodeId node, const IndexEnv& env,
                                    std::span<const NodeId> guards = {});

  // What a scatter walks: the whole of `target`, row-major, by `indices`. No value where one is not
  // quasi-affine.
  std::optional<OperandView> target_of(TensorId target, std::span<const NodeId> indices,
                                       const IndexEnv& env);

 private:
  struct Evaluation;
  struct Read {
    TensorId tensor;
    std::vector<ViewAxis> axes;  // no strides
  };
  // What has to hold for a condition to hold, one by one.
  struct Conditions {
    std::vector<NodeId> all;
    std::vector<NodeId> open;  // what no axis has explained yet
  };
  std::optional<Read> read_of(NodeId node, const IndexEnv& env,
                              std::span<const NodeId> guards = {});
  std::optional<ViewAxis> axis_of(NodeId index, std::int64_t extent, Evaluation& evaluation,
                                  Conditions& conditions);
  std::optional<std::vector<NodeId>> parts_of(NodeId condition) const;
  NodeId where(const std::vector<NodeId>& conditions, NodeId value) const;
  std::optional<IndexExpr> bounded_by(NodeId comparison, Evaluation& evaluation);
  bool always_holds(NodeId condition, Evaluation& evaluation);
  OperandView settled(Read read) const;
  const Node& node(NodeId id) const { return stages_.nodes[static_cast<std::size_t>(id)]; }
  const TensorDef& def(TensorId id) const { return stages_.tensors[static_cast<std::size_t>(id)]; }

  const Stages& stages_;
  IndexSpace& space_;
};

// The elements' strides as a kernel finds them: an argument's own, else row-major.
std::vector<std::int64_t> strides_of(const TensorDef& def);

// The address that a view's axes give, in elements of the terminal. No value where an axis is
// masked or divided.
std::optional<IndexExpr> address_of(const OperandView& view);

// Is the form a constant and multiples of axes?
bool is_affine(const IndexExpr& index, const IndexSpace& space);

}  // namespace relay::loops
