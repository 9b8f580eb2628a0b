#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/contraction_plan.h"
#include "kernels/product.h"
#include "kernels/scratch.h"
#include "loops/normal_form.h"

namespace relay::kernels {

// The right matrices of a contraction, each packed once.
template <class T>
class Panels {
 public:
  Panels(const ContractionPlan& plan, const Product<T>& product, const T* b,
         const loops::LibraryKernel::Parallel& parallel);
  static std::size_t bytes(const ContractionPlan& plan, const Product<T>& product);

  // False where the run was stopped meanwhile.
  bool are_whole() const { return are_whole_; }
  // Of matrix `outer` of the plan.
  const T* of(std::int64_t outer) const;

 private:
  std::vector<loops::ContractionAxis> axes_;  // those along which b moves have an extent, others 1
  std::vector<std::int64_t> steps_;
  std::size_t each_;
  Scratch memory_;
  bool are_whole_ = true;
};

// Panels of what was multiplied before, as of weights: they are kept from the second product on
// that has the same elements, of the last eight matrices (the layers of a network may share the
// kernel), as far as all that are kept take no more than 256 MiB.
template <class T>
class KeptPanels {
 public:
  ~KeptPanels();
  // Null: pack what is needed, as ever.
  std::shared_ptr<const Panels<T>> find(const ContractionPlan& plan, const Product<T>& product,
                                        const loops::LibraryOperand& b,
                                        const loops::LibraryKernel::Parallel& parallel);

 private:
  struct Kept {
    const void* data = nullptr;
    std::uint64_t content = 0;
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;
    std::shared_ptr<const Panels<T>> panels;  // null: it has been multiplied once
  };
  static constexpr std::size_t kMostKept = 8;
  static void drop(Kept& kept);
  Kept& place_for(const loops::LibraryOperand& b);

  std::mutex mutex_;
  std::vector<Kept> kept_;
  std::uint64_t uses_ = 0;
};

extern template class Panels<float>;
extern template class Panels<double>;
extern template class KeptPanels<float>;
extern template class KeptPanels<double>;

}  // namespace relay::kernels
