#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "loops/index_map.h"
#include "loops/inline.h"
#include "loops/lower.h"
#include "loops/stages.h"
#include "loops/updates.h"

namespace relay::loops {

// Where a stored tensor lies: the group's buffer number and strides in elements.
struct StoredAt {
  std::int32_t buffer = -1;
  std::vector<std::int64_t> strides;
};

// An instruction while its kernel is being built: sizes are numbers, addresses are index forms.
struct DraftInstruction {
  Code code = Code::Constant;
  DType dtype = DType::Int64;
  Prim prim = Prim::Add;
  std::int32_t axis = 0;
  std::int32_t buffer = -1;  // of the group
  std::int32_t site = 0;
  std::int32_t region = -1;  // Reduce: which
  std::int32_t home = 0;     // the region it stands in
  std::uint64_t bits = 0;    // Constant
  std::int64_t number = 0;   // SizeValue, InRange, CheckIndex
  std::vector<ValueId> args;
  IndexExpr address;  // Load
};

struct DraftRegion {
  std::vector<ValueId> code;
  ValueId result = -1;
  ReduceOp op = ReduceOp::Sum;
  std::vector<std::int32_t> axes;
  std::int32_t depth = 0;  // regions around it
};

struct DraftStore {
  ValueId value = -1;
  std::int32_t output = -1;  // of the group
  IndexExpr destination;
};

// A kernel before its layout is settled (loops/finish).
struct Draft {
  std::vector<DraftInstruction> values;
  std::vector<DraftRegion> regions;
  std::vector<std::int64_t> extents;    // of all axes; none is 1
  std::vector<std::string> axis_names;  // likewise; empty: nobody wrote it
  std::vector<std::int32_t> axis_home;  // region that an axis belongs to; domain: 0
  std::vector<bool> axis_is_value;      // used other than in addresses
  std::vector<std::int32_t> domain;     // domain axes in order
  IndexSpace space;
  StoreKind store = StoreKind::Assign;
  ReduceOp combine = ReduceOp::Sum;
  std::int32_t output = -1;  // of the group
  IndexExpr destination;
  std::vector<DraftStore> further;
  std::vector<Site> sites;
};

// One of several tensors that a kernel computes at the same points: a Map, or a Scatter into a part
// of a tensor that nothing else is scattered to, which starts from zeros.
struct JointTensor {
  TensorId tensor = -1;
  std::int32_t buffer = -1;  // of the group; -1: only other tensors of the kernel read it
};

// Turns the nodes of one stored tensor, and of everything that dissolves into it, into a draft.
// Equal instructions are one; each stands in the outermost region in which its operands are known.
// Reductions over nothing are gone.
class KernelBuilder {
 public:
  KernelBuilder(const Stages& stages, std::span<const Storage> storage,
                std::span<const StoredAt> places);

  // The kernel that stores Map `tensor`, or a copy of it, into `buffer`, row-major.
  void build_map(TensorId tensor, std::int32_t buffer);
  // The same, with an axis for each of its index variables, whatever is read.
  void build_nest(TensorId tensor, std::int32_t buffer);
  // The same of its points [begin, end) along an axis.
  void build_piece(TensorId tensor, std::int32_t buffer, std::size_t axis, std::int64_t begin,
                   std::int64_t end);
  // The same, where it reads copies of slices (loops/updates), which are stored.
  void build_update(TensorId tensor, std::span<const SliceRead> slices, std::int32_t buffer);
  // The kernel that stores such a slice.
  void build_slice(TensorId slice, std::int32_t buffer);
  // The kernel that stores a copy of `source`.
  void build_copy(TensorId source, std::int32_t buffer);
  // The kernel that combines the values of Scatter `tensor` into `buffer`.
  void build_scatter(TensorId tensor, std::int32_t buffer);

  // The kernel that stores all these tensors, whose points are the same but for axes of extent 1.
  void build_joint(std::span<const JointTensor> tensors);
  // Is what was built for several tensors as good as a kernel for each? It is where none is read at
  // another point than it is computed at, one sum at most is reduced, and nothing can fail.
  bool is_joint() const;
  // Does it store and compute as much as a kernel for several tensors should at most?
  bool is_full() const;

  // Is what was built just another arrangement of one stored tensor? Then which, and how.
  std::optional<ResultLeaf> as_view(const std::vector<std::int64_t>& shape) const;
  Draft& draft() { return draft_; }

 private:
  // A scalar: an int64 is an index form, anything else a value.
  struct Operand {
    ValueId value = -1;
    bool is_index = false;
    IndexExpr index;
  };
  struct Remembered {
    Operand operand;
    std::int32_t home;
  };
  // Bools of which one is false where nothing is read.
  using Masks = std::vector<ValueId>;
  // One reading of an inlined tensor: equal indices are computed once.
  struct Instance {
    TensorId tensor;
    std::vector<IndexExpr> indices;
    Masks masks = {};
  };
  // The least that is known of an index: it is at least 0 where a guard is true.
  using Facts = std::vector<IndexExpr>;

  void open_domain(std::span<const IndexVarId> vars);
  void open_axis(const TensorDef& def, std::size_t axis, std::int64_t begin, std::int64_t end);
  void store_map(const TensorDef& def, std::int32_t buffer);
  void add_joint(const JointTensor& joint, std::span<const IndexExpr> axes);
  IndexExpr new_axis(std::int64_t extent, std::int32_t home, std::string name = {});
  void store(const Operand& result, const std::vector<IndexExpr>& at,
             const std::vector<std::int64_t>& strides);

  Operand evaluate(NodeId node, std::int32_t instance);
  Operand evaluate_fresh(NodeId node, std::int32_t instance);
  Operand primitive(const Node& node, std::int32_t instance);
  std::optional<Operand> index_primitive(Prim prim, std::span<const Operand> args);
  std::optional<Operand> cast_to_index(const Operand& operand);
  std::optional<Operand> comparison(Prim prim, const Operand& a, const Operand& b);
  std::optional<Operand> logic(Prim prim, std::span<const Operand> args);
  Operand read(const Node& node, std::int32_t instance);
  std::optional<Operand> guarded_read(const Node& node, const std::vector<IndexExpr>& indices,
                                      std::int32_t instance);
  Operand read_at(const Node& node, std::vector<IndexExpr> indices, Masks masks);
  bool is_in_memory(TensorId tensor) const;
  bool are_within(const Node& node, const std::vector<IndexExpr>& indices) const;
  Operand load(TensorId tensor, const std::vector<IndexExpr>& indices, const Masks& masks = {});
  Operand inlined(TensorId tensor, std::vector<IndexExpr> indices, Masks masks = {});
  Site site_of(const Node& node, std::size_t axis) const;
  void check_index(const IndexExpr& index, std::int64_t extent, Site site, ValueId guard = -1);
  ValueId in_range(const IndexExpr& index, std::int64_t extent);
  ValueId all_of(const Masks& masks);
  void add_facts(NodeId guard, std::int32_t instance, bool is_true, Facts& facts);
  void add_fact(const IndexExpr& larger, const IndexExpr& smaller, std::int64_t by, Facts& facts);
  bool is_proven(const IndexExpr& index, std::int64_t extent, const Facts& facts) const;
  bool is_within(const IndexExpr& index, std::int64_t extent) const;
  void check_indices(const Node& node, const std::vector<IndexExpr>& indices);
  void guard_indices(const Node& node, const std::vector<IndexExpr>& indices, bool is_stored);
  Operand reduce(const Node& node, std::int32_t instance);
  Operand element_of(const Node& node, std::int32_t instance);
  Operand reduce_one(const Node& node, std::int32_t instance);
  Operand reduce_window(const Node& node, const std::vector<std::int64_t>& extents);
  Operand reduce_nothing(const Node& node);

  ValueId emit(DraftInstruction instruction);
  ValueId emit_primitive(Prim prim, DType dtype, std::vector<ValueId> args);
  ValueId constant(DType dtype, std::uint64_t bits);
  ValueId number(std::int64_t value);
  ValueId atom_value(AtomId atom);
  ValueId index_value(const IndexExpr& index);
  IndexExpr settled(const IndexExpr& address);
  ValueId value_of(const Operand& operand) {
    return operand.is_index ? index_value(operand.index) : operand.value;
  }
  Operand operand_of(ValueId value, std::optional<IndexRange> range = std::nullopt);
  std::optional<std::uint64_t> constant_bits(const Operand& operand) const;

  std::int32_t deeper(std::int32_t a, std::int32_t b) const;
  std::int32_t home_of(const IndexExpr& index) const;
  std::int32_t home_of(const Operand& operand) const;
  bool is_open(std::int32_t region) const;
  std::int32_t outside_home(std::int32_t region, std::int32_t depth) const;

  const Stages& stages_;
  std::span<const Storage> storage_;
  std::span<const StoredAt> places_;
  Draft draft_;
  std::vector<std::int32_t> open_;  // regions from the body inwards
  std::vector<IndexExpr> vars_;     // by index variable: what it stands for now
  std::vector<Instance> instances_;
  std::span<const SliceRead> slices_;
  std::vector<TensorId> joint_;  // computed here, though they may be stored
  bool is_nest_ = false;         // each index variable has an axis
  int selects_ = 0;              // around what is being evaluated
  int checks_ = 0;  // reads with checked indices that what is being evaluated stands in
  Masks masks_;     // where it is a point of the tensor that it belongs to
  std::unordered_map<std::uint64_t, Remembered> memo_;
  std::unordered_multimap<std::uint64_t, ValueId> known_;  // instructions by hash
};

}  // namespace relay::loops
