#include "loops/address_walk.h"

#include <algorithm>

#include "loops/launch_sizes.h"

namespace relay::loops {

AddressWalks::AddressWalks(const Launch& launch) : launch_(launch) {
  for (const Region& region : launch.kernel.regions) {
    for (const Instruction& instruction : region.code) {
      if (instruction.code == Code::Axis) axes_[instruction.id] = instruction.axis;
    }
  }
}

AddressWalk AddressWalks::of(const Address& address) const {
  AddressWalk walk;
  walk.low = walk.high = number_of(address.offset, launch_);
  for (const AddressTerm& term : address.terms) {
    const auto axis = axes_.find(term.index);
    if (axis == axes_.end()) {
      walk.is_affine = false;
      continue;
    }
    const std::int64_t stride = number_of(term.stride, launch_);
    if (axis->second == 0 && launch_.kernel.domain_rank > 0) {
      walk.stride += stride;
      continue;
    }
    const auto number = static_cast<std::size_t>(axis->second);
    const std::int64_t extent = number_of(launch_.kernel.extents[number], launch_);
    (stride < 0 ? walk.low : walk.high) += stride * std::max<std::int64_t>(extent - 1, 0);
  }
  return walk;
}

}  // namespace relay::loops
