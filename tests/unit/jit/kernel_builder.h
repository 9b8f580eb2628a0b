#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loops/loop_ir.h"

namespace relay::test {

using loops::Size;
using loops::ValueId;

// A size of a kernel under construction, and the value it will have.
struct Extent {
  Size size;
  std::int64_t value;
};

// Puts a kernel together, with memory for it to run on. Values go to the region that is open.
class KernelBuilder {
 public:
  loops::Kernel kernel;
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::uint64_t>> data;  // by buffer; 64-bit words, so aligned

  KernelBuilder();

  Extent literal(std::int64_t value) { return {Size::literal(value), value}; }
  Extent slot(std::int64_t value);

  std::int32_t domain_axis(Extent extent);  // all domain axes come first
  std::int32_t reduction_axis(Extent extent);
  std::int64_t extent_of(std::int32_t axis) const { return extents_[axis].value; }

  std::int32_t buffer(lang::DType dtype, std::int64_t count, bool is_output = false);
  void set(std::int32_t buffer, std::int64_t index, std::uint64_t bits);
  std::uint64_t get(std::int32_t buffer, std::int64_t index) const;
  std::int64_t count(std::int32_t buffer) const { return counts_[buffer]; }

  ValueId axis(std::int32_t axis);
  ValueId constant(lang::DType dtype, std::uint64_t bits);
  ValueId size_value(Extent extent);
  ValueId scalar_input(std::int32_t buffer);
  ValueId load(std::int32_t buffer, std::vector<loops::AddressTerm> terms,
               Size offset = Size::literal(0), std::vector<ValueId> masks = {});
  ValueId in_range(ValueId index, Extent extent);
  ValueId prim(lang::Prim prim, std::vector<ValueId> args);
  ValueId cast(ValueId value, lang::DType to);
  ValueId check(ValueId index, Extent extent, std::int32_t site = 0, ValueId guard = -1);
  // Opens a region; close_reduce defines the reduction in the region around it.
  void open_reduce(lang::ReduceOp op, std::vector<std::int32_t> axes);
  ValueId close_reduce(ValueId result);
  // The kernel's result, stored row-major over the domain in a new output buffer.
  void finish(ValueId result);
  // One more result, the same, or column-major.
  void store_further(ValueId value, bool is_transposed);

  lang::DType type_of(ValueId id) const { return types_[id]; }
  // float32 1.5 and the like, by their bits.
  ValueId f32(float value);
  ValueId i64(std::int64_t value);

 private:
  ValueId add(loops::Instruction instruction);
  // A new output buffer for `value`, and where the point at hand is in it.
  std::int32_t new_output(ValueId value, bool is_transposed, loops::Address& destination);

  std::vector<Extent> extents_;
  std::vector<std::int64_t> counts_;
  std::vector<lang::DType> types_;
  std::vector<std::int32_t> open_;
};

// The compiler of librelay_jit.so, or null if there is none to be tested.
loops::KernelCompiler* jit_compiler();

// Runs the kernel in the reference, by the interpreter's lanes and compiled, on copies of its data,
// and compares results, return codes and errors. The lanes and the compiled form do the domain's
// first axis in two pieces when `cut` is positive. Returns an empty string, or what differs.
std::string compare_with_reference(const KernelBuilder& built, std::int64_t cut = 0);

}  // namespace relay::test
