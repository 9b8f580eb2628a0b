#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/attrs.h"

// Private to the passes that look at convolutions and pools.
namespace relay::opt {

// Which axes of a layout such as `NHWC` are spatial, in the order of Relay's attributes (depth,
// height, width).
struct SpatialAxes {
  std::vector<std::size_t> spatial;
  std::vector<std::size_t> others;
};
// Nothing for a layout with blocks, as `NCHW4c`.
std::optional<SpatialAxes> spatial_axes(const std::string& layout);

// The attribute with a value for each of `count` axes; a single value stands for all.
std::vector<std::int64_t> for_each_axis(const lang::Attrs& attrs, const std::string& key,
                                        std::size_t count);
bool is_all(const std::vector<std::int64_t>& values, std::int64_t wanted);

// The attribute `padding`: one value for all, one for each axis, or all fronts and then all backs.
struct Ends {
  std::vector<std::int64_t> front;
  std::vector<std::int64_t> back;
};
Ends padding_ends(const lang::Attrs& attrs, std::size_t count);
lang::AttrValue attr_of_ends(const Ends& ends);
// A list of pairs such as `[[0, 0], [1, 1]]`.
Ends ends_of_pairs(const lang::AttrValue& pairs);

}  // namespace relay::opt
