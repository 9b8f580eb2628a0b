#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/tensor.h"
#include "loops/loop_ir.h"
#include "loops/normal_form.h"

namespace relay::loops {

// What lowering knows of an argument: a tensor's layout at this call.
struct Layout {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  friend bool operator==(const Layout&, const Layout&) = default;
};

// A tensor made by the group: a result or a temporary between its kernels. Row-major.
struct MadeTensor {
  DType dtype;
  std::vector<std::int64_t> shape;
  bool is_temporary = false;
  std::int64_t window = 0;  // not 0: so many of its rows are in memory at a time (Band::windows)
};

// One step of a group: run `kernel`, or what stands instead of it, with these buffers and sizes.
// Buffer numbers: 0..args-1 are the group's leaf arguments in order (tuples flattened), then
// `literals`, then `made`, each in order.
struct Launch {
  // Instead of a kernel: buffers[1] gets the primitive's value for buffers[0], both row-major.
  struct Whole {
    lang::TensorPrimitive primitive;
    DType dtype;  // of buffers[0]
    std::int64_t rows;
    std::int64_t extent;
  };
  std::optional<Whole> whole;
  // Instead of a kernel: a library's, for buffers[0] and buffers[1] from these elements on, into
  // buffers[2].
  struct Library {
    NormalForm form;
    std::shared_ptr<const LibraryKernel> kernel;
    std::int64_t left_offset;
    std::int64_t right_offset;
  };
  std::optional<Library> library;
  Kernel kernel;
  std::vector<std::int32_t> buffers;
  std::vector<std::int64_t> sizes;  // values of the kernel's slots
  std::int64_t cost = 0;            // estimated scalar operations of the whole launch
  // Not 0: of a later launch, whose threads change the rows that this one reads. It is for the same
  // threads, each of which has its rows in its cache.
  std::int64_t cost_of_rows = 0;
  // Of an update (loops/updates) and what it reads of its rows: some of them may stay as they are,
  // so rows are dealt to the threads in turn.
  bool deals_rows = false;
  // Its nest has a schedule (loops/schedule.h): then it is dealt to threads only where that says
  // so, and is in no band but one that a schedule makes.
  bool is_scheduled = false;
  bool is_parallel = false;
  mutable std::shared_ptr<const void> prepared;  // interp/launch: the kernel as the lanes run it
};

// A result leaf: a made tensor, or another buffer seen differently (reshape, transpose, slices and
// broadcasts need no kernel).
struct ResultLeaf {
  std::int32_t buffer = -1;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

// Is the leaf all of the tensor, as it is?
bool is_whole(const ResultLeaf& leaf, const MadeTensor& tensor);

// The tensor `made` may take the memory of the leaf argument `arg` where nobody else holds that.
// It holds its elements then before launch `copy` has run, which needs not run.
struct Reuse {
  std::size_t arg = 0;
  std::size_t made = 0;
  std::optional<std::size_t> copy;
};

// Launches in a row that can run together, some rows at a time (loops/bands). A row is a point of
// axis 0 of a kernel's domain, or so many that the kernel has as many rows as the band; or rows of
// a library's result.
struct Band {
  std::size_t first = 0;  // launch
  std::size_t count = 1;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;  // of all that they read and write in a row, at most

  // What a launch reads of a window: at point p of its axis 0 elements from stride * p + low to
  // stride * p + high.
  struct WindowRead {
    std::size_t window;
    std::int64_t stride, low, high;
  };
  // A tensor of which each step makes the rows that it needs, and no others are in memory.
  struct Window {
    std::int64_t rows;          // of the tensor
    std::int64_t row_elements;  // of one
  };
  // Not empty: the band goes over the points of axis 0 of its last launch, `step` of them at a
  // time. In each step the launches before it, one for each window, make what those behind them
  // read of it (loops/windows).
  std::vector<Window> windows = {};
  std::vector<std::vector<WindowRead>> window_reads = {};  // by launch
  std::int64_t step = 1;
};

// A group lowered for given layouts.
struct LoweredGroup {
  std::vector<lang::TensorRef> literals;  // constants of the program that are read as memory
  std::vector<MadeTensor> made;
  std::vector<Launch> launches;
  std::vector<ResultLeaf> results;  // leaves of the result (tuples flattened)
  std::vector<Reuse> reuse;
  std::vector<Band> bands;  // all launches, in order
};

// Lowers the body of `group` — a Function whose params are tensors, scalars or tuples of them and
// whose body is an ANF block of operator calls with definitions, comprehensions, reductions,
// scatters, indexing, primitives, tuples and projections — for arguments of the given layouts
// (leaves, tuples flattened). Operators are expanded into their definitions at the concrete shapes;
// producers are inlined into consumers (elementwise, broadcast, injective into everything;
// epilogues into reductions); what is used more than once and is not cheap is materialised. What
// `library` takes, if there is one, becomes a call of it. Results that only rearrange a tensor are
// views of it, or copies. Fails with a diagnostic when shapes disagree or a body is outside index
// notation (see is_lowerable).
enum class Rearranged : std::uint8_t { View, Copy };
lang::Result<LoweredGroup> lower(const lang::Function& group, std::span<const Layout> args,
                                 KernelLibrary* library = nullptr,
                                 Rearranged rearranged = Rearranged::View);

using lang::is_lowerable;

}  // namespace relay::loops
