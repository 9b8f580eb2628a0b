#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/exporter/call.h"

namespace relay::models::exporter {

// `NCHW` of two spatial axes; `IOHW` in the same way.
std::string usual_layout(std::string_view front, std::size_t spatial);
// A tensor with its axes in another order, as in `NHWC` and `NCHW`. Throws Unsupported for layouts
// in blocks.
std::string in_layout(Call& call, const std::string& name, const std::string& from,
                      const std::string& to);
// An attribute as one number for each spatial axis; `padding` as all fronts and then all backs.
std::vector<std::int64_t> for_each_axis(const Call& call, std::string_view key, std::size_t axes);
std::vector<std::int64_t> padding_of(const Call& call, std::size_t axes);

}  // namespace relay::models::exporter
