#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/code_image.h"
#include "lang/dtype.h"
#include "lang/primitive.h"
#include "lang/source.h"
#include "lang/stop.h"

// The loop IR: index notation as loop nests, plain data, the one input of both back ends (lanes in
// interp/, LLVM in jit/). A kernel is one perfect nest that computes one value per point of its
// domain, or a few, and stores them. Everything that varies between calls of the same shape pattern
// (extents, strides, constants of index arithmetic) stands in run-time size slots, so one compiled
// kernel serves all sizes.
namespace relay::lang {
struct OpDef;
}

namespace relay::loops {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;

// A run-time integer: a literal that the code may rely on (0 and 1 strides, small constants), or
// slot `slot` of the launch's size array.
struct Size {
  bool is_literal = true;
  std::int64_t value = 0;  // the literal, or the slot number
  static Size literal(std::int64_t v) { return {true, v}; }
  static Size slot(std::int64_t s) { return {false, s}; }
  friend bool operator==(const Size&, const Size&) = default;
};

// Values are numbered within a kernel; inner regions may use values of outer ones.
using ValueId = std::int32_t;

// One term of an address: (index value) * stride, in elements.
struct AddressTerm {
  ValueId index;  // an int64 value; usually an Axis
  Size stride;
  friend bool operator==(const AddressTerm&, const AddressTerm&) = default;
};
// offset + sum of terms, in elements from the buffer's start.
struct Address {
  std::vector<AddressTerm> terms;
  Size offset;
};

enum class Code : std::uint8_t {
  Axis,  // the current index of axis `axis` of the kernel's domain or of an enclosing reduction:
         // int64
  Constant,     // `bits` as dtype
  SizeValue,    // the size `size` as int64
  ScalarInput,  // element 0 of buffer `buffer` (rank-0 input): loop-invariant
  Load,         // buffer[address]; where one of args, bools, is false: nothing is read, and it is 0
  Primitive,    // prim(args)
  InRange,      // bool: is 0 <= args[0] < size? args[0] is int64
  CheckIndex,   // int64 args[0] if 0 <= args[0] < size, else the kernel fails with `site`; with a
                // bool args[1] it fails only where that is true, and is no operand
  Reduce,       // folds region `region` over its axes
};

struct Region;

struct Instruction {
  Code code;
  DType dtype;                // of the result
  ValueId id;                 // the value it defines
  std::int32_t axis = 0;      // Axis: number among all axes of the kernel (domain axes first)
  std::uint64_t bits = 0;     // Constant
  Size size;                  // SizeValue, InRange, CheckIndex
  std::int32_t buffer = 0;    // Load, ScalarInput
  Address address;            // Load
  Prim prim = Prim::Add;      // Primitive
  std::vector<ValueId> args;  // Load, Primitive, InRange, CheckIndex
  std::int32_t site = 0;      // CheckIndex: index into Kernel::sites
  std::int32_t region = -1;   // Reduce: index into Kernel::regions
};

// Straight-line code with one result. A reduction's region also has its axes (row-major, last
// fastest).
struct Region {
  std::vector<Instruction> code;
  ValueId result = -1;
  // Reduction only. Of Dot the result is a product, whose operands are multiplied and added to a
  // partial result with one rounding.
  ReduceOp op = ReduceOp::Sum;
  std::vector<std::int32_t> axes;
};

struct BufferSlot {
  DType dtype;
  bool is_output = false;
  friend bool operator==(const BufferSlot&, const BufferSlot&) = default;
};

enum class StoreKind : std::uint8_t {
  Assign,   // each domain point is stored once
  Combine,  // read, combine with `combine`, write back; points run sequentially in row-major order
            // (scatter)
};

// One more value of each point, of the body, and where it is stored.
struct FurtherStore {
  ValueId value = -1;
  std::int32_t output = 0;
  Address destination;
};

// What a failing CheckIndex blames.
struct Site {
  lang::Span span;
  const lang::OpDef* reader = nullptr;  // an operator whose definition should not have read there
  std::int32_t axis = -1;               // of the tensor of `shape`; -1: not told
  std::vector<std::int64_t> shape = {};
};

// One nest. Domain axes 0..domain.size()-1, outermost first; reduction axes follow in `extents`.
//
// Reduction order (the bits depend on it, so both back ends keep it), over the linear index t of
// the reduction's axes, row-major. Element t goes to lane t mod kReductionLanes; lanes start as the
// op's identity; at the end they are combined pairwise: for width = lanes/2, ..., 1:
// acc[j] = op(acc[j], acc[j + width]). Where rounding makes the order matter (has_blocks,
// loops/reduction_tree.h), this is done for each block of kReductionBlock elements, and the blocks
// are combined as a tree. ArgMax/ArgMin carry (value, t); of equal values the smaller t wins; NaN
// beats numbers. A NaN operand makes Max/Min NaN.
struct Kernel {
  std::vector<BufferSlot> buffers;  // positions in the launch's pointer array
  std::vector<Size> extents;        // of all axes: domain first, then those of reductions
  std::int32_t domain_rank = 0;
  std::vector<Region> regions;  // regions[0] is the body
  std::int32_t value_count = 0;
  std::int32_t slot_count = 0;  // run-time sizes
  StoreKind store = StoreKind::Assign;
  ReduceOp combine = ReduceOp::Sum;
  std::int32_t output = 0;            // buffer that is stored to
  Address destination;                // terms may only use Axis values when store == Assign
  std::vector<FurtherStore> further;  // only when store == Assign
  // Where a schedule says so (loops/schedule.h): so many trailing axes of the domain, each of
  // literal extent, are a tile. Its points are computed together, with one walk over a reduction's
  // elements; the last axis is spread over vector lanes if `has_lanes`. It changes no bit, and
  // whoever runs the nest may take the points one by one.
  std::int32_t tile_rank = 0;
  bool has_lanes = false;
  // One point of axis 0 may take long: the code asks within it whether to stop.
  bool polls = false;
  // Places for run-time errors; not part of the structure (two kernels that differ only here share
  // code).
  std::vector<Site> sites;
};
inline constexpr int kReductionLanes = 16;

// Why a kernel stopped, and where it reads whether to (lang/stop.h).
struct KernelError {
  std::int32_t site = -1;  // CheckIndex: which; -1: none; or one of those below
  std::int64_t index = 0;  // the bad index
  std::int64_t extent = 0;
  const std::atomic<lang::Stop>* stop = &lang::pending_stop;
};
inline constexpr std::int32_t kDivisionByZeroSite = -2;
inline constexpr std::int32_t kStoppedSite = -3;

// Scalar operations that end soon enough for an interrupt to wait for them: tens of milliseconds on
// lanes.
inline constexpr std::int64_t kSliceCost = 20'000'000;

// Compiled form: computes points [begin, end) of domain axis 0 (of a rank-0 domain: begin 0, end
// 1). Returns 0, or 1 after filling `error`. Thread-safe for disjoint ranges when store == Assign.
using KernelFunction = int (*)(void* const* buffers, const std::int64_t* sizes, std::int64_t begin,
                               std::int64_t end, KernelError* error);

// Structure without sites: the key of a code cache. Equal keys mean the same compiled code serves
// both.
std::string structural_key(const Kernel& kernel);
// Has it steps that can fail: checks of indices, divisions of integers?
bool may_fail(const Kernel& kernel);
// For `:show loops` and debugging.
std::string to_string(const Kernel& kernel);
// Panics (RELAY_CHECK) if ids, axes, buffers or dtypes are inconsistent. For tests and debug
// builds.
void verify(const Kernel& kernel);

inline constexpr const char* kKernelSymbol = "kernel";

// A compiler of kernels, used by one thread at a time. The JIT's shared object provides one.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // Code of a KernelFunction named kKernelSymbol. Empty when this kernel cannot be compiled; the
  // lanes run it then.
  virtual std::optional<lang::CodeImage> compile(const Kernel& kernel) = 0;
  // Text of the optimised code: "llvm" or "asm". Empty for an unknown stage.
  virtual std::string dump(const Kernel& kernel, const std::string& stage) = 0;
};

}  // namespace relay::loops
