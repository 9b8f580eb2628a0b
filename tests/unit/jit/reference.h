#pragma once

#include <cstdint>
#include <vector>

#include "loops/loop_ir.h"

namespace relay::test {

// One point and one element at a time, straight from the words of loops/loop_ir.h. Slow, and
// sharing no code with the back ends but the math functions.
class Reference {
 public:
  Reference(const loops::Kernel& kernel, std::vector<void*> buffers,
            std::vector<std::int64_t> sizes);
  // As loops::KernelFunction.
  int run(std::int64_t begin, std::int64_t end, loops::KernelError* error);

 private:
  struct Stopped {};

  void run_axis(std::int32_t axis, std::int64_t begin, std::int64_t end);
  std::uint64_t run_region(const loops::Region& region);
  std::uint64_t evaluate(const loops::Instruction& instruction);
  std::uint64_t reduce(const loops::Region& region);
  std::vector<loops::ValueId> factors_of(const loops::Region& region) const;
  void store(std::uint64_t value);
  std::int64_t value_of(const loops::Size& size) const;
  std::int64_t address_of(const loops::Address& address) const;
  std::uint64_t load(std::int32_t buffer, std::int64_t index) const;
  lang::DType type_of(loops::ValueId id) const { return types_[id]; }

  const loops::Kernel& kernel_;
  std::vector<void*> buffers_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> axes_;
  std::vector<std::uint64_t> values_;
  std::vector<lang::DType> types_;
  loops::KernelError* error_ = nullptr;
};

// The primitive on bits. `by_zero` is set when an integer is divided by zero.
std::uint64_t apply(lang::Prim prim, lang::DType operand, lang::DType result,
                    const std::uint64_t* args, bool& by_zero);

// Are these the same value? All NaN are one.
bool is_same(lang::DType dtype, std::uint64_t a, std::uint64_t b);

}  // namespace relay::test
