#pragma once

#include <cstdint>
#include <unordered_map>

#include "loops/lower.h"

namespace relay::loops {

// The elements that an address reaches: at point p of axis 0 of the domain, those from stride * p +
// low to stride * p + high.
struct AddressWalk {
  std::int64_t stride = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool is_affine = true;  // else it has an index that is computed, which is left out
};

// Of a launch of a kernel, which must outlive it.
class AddressWalks {
 public:
  explicit AddressWalks(const Launch& launch);
  AddressWalk of(const Address& address) const;

 private:
  const Launch& launch_;
  std::unordered_map<ValueId, std::int32_t> axes_;
};

}  // namespace relay::loops
