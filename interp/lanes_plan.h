#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interp/lanes_facts.h"
#include "interp/lanes_ops.h"
#include "loops/loop_ir.h"

// A kernel as the lanes run it. Each region is a nest of loops; its trailing axes may be the lanes,
// taken in chunks of their row-major linear index. At most one nest on the way from the body to an
// instruction owns lanes, so a value either varies over the lanes or is uniform (one element).
namespace relay::interp::lanes {

using loops::ValueId;

inline constexpr std::int64_t kNone = -1;

// A table of element offsets over the lane axes of a nest: sum of index * stride.
struct OffsetTable {
  std::vector<std::int64_t> strides;  // of the nest's lane axes
  std::int32_t nest = 0;
  std::int64_t storage = kNone;
};

struct AxisTerm {
  std::int32_t axis;
  std::int64_t stride;
};
struct ValueTerm {
  ValueId value;
  std::int64_t stride;
};

// An address, split by what moves it.
struct Place {
  enum class Mode : std::uint8_t { Uniform, Linear, Offsets };
  Mode mode = Mode::Uniform;
  std::int64_t offset = 0;
  std::vector<AxisTerm> outer;           // axes that are loops
  std::vector<ValueTerm> uniform_terms;  // index values, the same in all lanes
  std::int64_t lane_stride = 0;          // Linear: per step of the lanes' linear index
  std::int32_t table = -1;               // Offsets: the affine part, if there is one
  std::vector<ValueTerm> lane_terms;     // Offsets: index values that vary
  std::int64_t scratch = kNone;          // for offsets, where there are lane_terms
};

enum class Action : std::uint8_t { Axis, Load, Primitive, Range, Check, Reduce };

// Bools, of which one is false where a step does not count.
struct Masks {
  std::vector<ValueId> uniform;
  std::vector<ValueId> varying;
  std::int64_t scratch = kNone;  // for all of several
  bool is_empty() const { return uniform.empty() && varying.empty(); }
};

struct Step {
  Action action = Action::Primitive;
  bool varying = false;
  bool to_output = false;  // writes straight into the output of the kernel's only store
  ValueId out = -1;
  LaneFunction function = nullptr;  // Primitive
  std::array<ValueId, 3> args = {0, 0, 0};
  std::int64_t storage = kNone;  // of the result, in the arena
  std::int32_t buffer = 0;       // Load
  std::uint32_t element_size = 0;
  Place place;
  CopyFunction copy = nullptr;
  GatherFunction gather = nullptr;
  MaskedFunction masked = nullptr;  // Load with masks
  Masks masks;                      // Load, Check
  std::int32_t table = -1;          // Axis
  std::int64_t extent = 0;          // Range, Check
  std::int32_t site = 0;
  std::int32_t nest = -1;  // Reduce
};

// How a reduction folds.
struct FoldPlan {
  lang::ReduceOp op = lang::ReduceOp::Sum;
  bool is_arg = false;
  bool varying = false;  // one result per lane of an outer nest
  std::uint32_t element_size = 0;
  std::int64_t count = 0;      // elements
  std::int64_t rows = 0;       // partial results that occur: at least one
  int levels = 0;              // at which results of blocks wait (loops/reduction_tree.h)
  std::int64_t row_bytes = 0;  // distance of partial results, and of levels, in the arena
  std::int64_t index_row_bytes = 0;
  std::uint64_t identity = 0;
  std::int64_t partials = kNone;  // in the arena
  std::int64_t waiting = kNone;   // where there are levels
  std::int64_t indices = kNone;   // ArgMax, ArgMin
  std::int64_t splat = kNone;     // a uniform element repeated, where the nest owns lanes
  CopyFunction fill = nullptr;
  LaneFunction fold_rows = nullptr;     // partials[i] = op(partials[i], element[i])
  LaneFunction combine_pair = nullptr;  // partials[i] = op(partials[i], other partials[i])
  FoldFunction fold_across = nullptr;
  LaneFunction multiply_add = nullptr;  // the element is a product of `factors`, folded in one go
  FoldProductFunction product_across = nullptr;  // the same for a nest's own lanes
  DotFunctions dot;                              // the same, of a dot
  std::array<ValueId, 2> factors = {0, 0};
  ArgFunctions arg{};
};

struct Nest {
  std::vector<std::int32_t> axes;
  std::vector<std::int64_t> extents;
  std::size_t first_lane = 0;  // axes from here on are lanes
  bool owns_lanes = false;
  std::int64_t lane_points = 1;  // product of the lane extents
  std::int64_t chunk = 1;
  // Steps by the loop in which they become known: [0] before all loops, [d + 1] inside axis d, the
  // last in the lanes.
  std::vector<std::vector<Step>> levels;
  struct Position {
    std::uint32_t level;
    std::uint32_t step;
  };
  std::vector<Position> in_order;  // the steps as the kernel has them
  ValueId result = -1;
  FoldPlan fold;
};

struct Store {
  ValueId value = -1;
  std::int32_t output = 0;
  std::uint32_t element_size = 0;
  Place destination;
  CopyFunction copy = nullptr;
  ScatterFunction scatter = nullptr;
};

struct Plan {
  std::vector<Nest> nests;  // by region
  std::vector<OffsetTable> tables;
  std::vector<bool> varying;  // by value
  struct Fixed {
    ValueId value;
    std::uint64_t bits;
    std::int64_t storage;
  };
  std::vector<Fixed> constants;
  struct Input {
    ValueId value;
    std::int32_t buffer;
  };
  std::vector<Input> scalar_inputs;
  struct AxisValue {
    ValueId value;
    std::int32_t axis;
  };
  std::vector<AxisValue> loop_indices;  // Axis values of loops
  std::int32_t axis_count = 0;
  std::int64_t arena_bytes = 0;
  std::vector<Store> stores;
  CombineFunction combine = nullptr;  // of the only store, where it combines
};

// The steps of making a plan. First: the axes of each nest, and which of them are lanes.
void choose_lanes(const KernelFacts& facts, std::vector<Nest>& nests);
// Last: how many lanes are run at once, and where in the arena everything is.
void assign_storage(const KernelFacts& facts, Plan& plan);

Plan make_plan(const loops::Kernel& kernel, const std::int64_t* sizes);

}  // namespace relay::interp::lanes
