#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/host.h"
#include "loops/loop_ir.h"

namespace relay::jit {

// A set of a kernel's axes, as bits.
using AxisSet = std::uint64_t;
inline AxisSet axis_bit(std::int32_t axis) { return AxisSet{1} << axis; }

// What the code generator knows of a kernel before it emits anything.
class Analysis {
 public:
  explicit Analysis(const loops::Kernel& kernel);

  // Is every feature of the kernel within reach of the code generator?
  bool is_supported(const HostTraits& host) const;

  // Axes along which a value changes. Axes with the literal extent 1 do not count: their index is
  // 0.
  AxisSet depends(loops::ValueId id) const { return depends_[id]; }
  bool is_unit(std::int32_t axis) const;

  // By how much an int64 value grows when the index of `axis` grows by 1, if that is the same
  // number everywhere; 0 for values that do not depend on `axis`.
  std::optional<std::int64_t> step(loops::ValueId id, std::int32_t axis);
  // The same for an address, in elements.
  std::optional<std::int64_t> step(const loops::Address& address, std::int32_t axis);

  // Instructions that may stop the kernel: checks of indices, divisions of integers by what may be
  // 0.
  bool can_fail() const { return can_fail_; }
  bool may_fail(const loops::Instruction& instruction) const;

  // How well a region (and those inside it) lies in memory along an axis.
  struct Layout {
    int along = 0;     // loads of neighbours
    int gathers = 0;   // other loads that change along the axis
    int repeated = 0;  // loads that do not
  };
  Layout layout(std::int32_t region, std::int32_t axis);

  // Instructions of a region, nested regions included.
  int size(std::int32_t region) const;

  // How many elements a reduction has, if its extents are known and it is small enough to be
  // written out element by element: a pooling window, the few components of a vector.
  std::optional<std::int64_t> unrolled_count(std::int32_t region) const;

  // The last domain axis, where it is short and its index is compared, as that of a few tensors
  // side by side, or where it has fewer points than a vector has lanes, as the parts of a complex
  // number or of a point in space: its points are written out, and the axis before it is spread
  // over lanes. -1: none.
  std::int32_t written_out_axis();

  // The domain axis to spread over vector lanes, or -1.
  std::int32_t vector_axis();
  // The reduction axis to spread over lanes when the domain is not: its last one, or -1.
  std::int32_t vector_axis(const loops::Region& reduction);

  // Should the nest walk over tiles of the vector axis and the domain axis around it? Then lines of
  // memory that the second axis shares, or does not change, are met again while they are in the
  // cache.
  bool wants_tiles(std::int32_t vector_axis);

  const loops::Instruction& definition(loops::ValueId id) const { return *definitions_[id]; }

 private:
  void scan(const loops::Region& region);
  AxisSet depends_of(const loops::Instruction& instruction) const;
  void count(const loops::Region& region, std::int32_t axis, Layout& layout);
  std::optional<std::int64_t> compute_step(loops::ValueId id, std::int32_t axis);
  bool is_reduced(std::int32_t axis) const;
  bool is_short_row(std::int32_t axis);
  bool gains_from_tiles(const loops::Region& region, std::int32_t vector_axis);

  const loops::Kernel& kernel_;
  std::vector<AxisSet> depends_;
  std::vector<const loops::Instruction*> definitions_;
  bool can_fail_ = false;
};

}  // namespace relay::jit
