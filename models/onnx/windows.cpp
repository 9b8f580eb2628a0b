#include "models/onnx/windows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace relay::models::onnx {

namespace {

constexpr std::int64_t kMost = 1 << 24;  // of a stride, a padding or a kernel

std::vector<std::int64_t> numbers(const Call& call, std::string_view key, std::size_t count,
                                  std::int64_t otherwise, std::int64_t least) {
  auto result = call.integers(key).value_or(std::vector<std::int64_t>(count, otherwise));
  if (result.size() != count)
    call.bad(fmt::format("`{}` has {} elements, not {}", key, result.size(), count));
  for (const std::int64_t each : result) {
    if (each < least || each > kMost) call.bad(fmt::format("`{}` has the element {}", key, each));
  }
  return result;
}

bool are_all(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](std::int64_t each) { return each == value; });
}

}  // namespace

std::string Windows::attributes() const {
  std::string text;
  if (!are_all(strides, 1)) text += fmt::format(", strides={}", list_text(strides));
  if (!are_all(dilations, 1)) text += fmt::format(", dilation={}", list_text(dilations));
  if (are_all(pads, 0)) return text;
  const std::size_t axes = strides.size();
  const std::vector<std::int64_t> fronts(pads.begin(),
                                         pads.begin() + static_cast<std::ptrdiff_t>(axes));
  const bool is_even =
      std::equal(fronts.begin(), fronts.end(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  return text + fmt::format(", padding={}", list_text(is_even && axes > 1 ? fronts : pads));
}

lang::Dim Windows::left(const lang::Dim& extent, std::size_t axis, std::int64_t kernel,
                        bool overhangs) const {
  const std::int64_t span = (kernel - 1) * dilations[axis] + 1;
  const lang::Dim room = extent + lang::Dim(pads[axis] + pads[axis + strides.size()] - span);
  const std::int64_t more = overhangs ? strides[axis] - 1 : 0;
  return lang::Dim::floor_div(room + lang::Dim(more), strides[axis]) + lang::Dim(1);
}

std::string Windows::Overhangs::cut() const {
  if (empty.empty()) return {};
  return fmt::format("begin={}, end={}, axes={}",
                     list_text(std::vector<std::int64_t>(empty.size(), 0)),
                     list_text(std::vector<std::int64_t>(empty.size(), -1)), list_text(empty));
}

Windows::Overhangs Windows::overhangs(const Call& call,
                                      const std::vector<std::int64_t>& kernel) const {
  Overhangs result;
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const lang::Dim& extent = call.in(0).dims()[k + 2];
    const lang::Dim count = left(extent, k, kernel[k], true);
    if (count == left(extent, k, kernel[k])) continue;
    const bool is_known = extent.is_constant() && count.is_constant();
    if (is_known && (count.constant() - 1) * strides[k] >= extent.constant() + pads[k]) {
      result.empty.push_back(static_cast<std::int64_t>(k) + 2);
    } else {
      result.are_some_full = true;
    }
  }
  return result;
}

bool Windows::pad_overhangs(const Call& call, const std::vector<std::int64_t>& kernel) {
  std::vector<std::int64_t> padded = pads;
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const lang::Dim& extent = call.in(0).dims()[k + 2];
    const lang::Dim count = left(extent, k, kernel[k], true);
    if (count == left(extent, k, kernel[k])) continue;
    if (!extent.is_constant() || !count.is_constant()) return false;
    const std::int64_t begin = (count.constant() - 1) * strides[k] - pads[k];  // of the last window
    if (begin >= extent.constant()) continue;
    const std::int64_t span = (kernel[k] - 1) * dilations[k] + 1;
    padded[k + kernel.size()] = begin + span - extent.constant();
  }
  pads = std::move(padded);
  return true;
}

std::size_t spatial_axes(const Call& call, std::size_t input) {
  const std::size_t rank = call.rank(input);
  if (rank < 3 || rank > 5)
    call.unsupported(
        fmt::format("windows over data of {} axes: one to three behind batch and channels", rank));
  return rank - 2;
}

std::vector<std::int64_t> kernel_of(const Call& call, std::size_t weight) {
  const std::size_t axes = spatial_axes(call, weight);
  std::vector<std::int64_t> kernel;
  for (std::size_t k = 0; k < axes; ++k) kernel.push_back(call.extent(weight, k + 2));
  return kernel;
}

Windows windows_of(const Call& call, std::size_t input, const std::vector<std::int64_t>& kernel,
                   bool ignores_auto) {
  const std::size_t axes = spatial_axes(call, input);
  if (kernel.size() != axes) call.bad("the kernel has not an extent for each axis");
  for (const std::int64_t each : kernel) {
    if (each < 0 || each > kMost) call.bad(fmt::format("the kernel has the extent {}", each));
  }
  Windows windows{.strides = numbers(call, "strides", axes, 1, 1),
                  .dilations = numbers(call, "dilations", axes, 1, 1),
                  .pads = numbers(call, "pads", 2 * axes, 0, 0)};
  const std::string automatic = call.string("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty() || ignores_auto) return windows;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER" && automatic != "VALID")
    call.bad(fmt::format("`auto_pad` is `{}`", automatic));
  std::fill(windows.pads.begin(), windows.pads.end(), 0);
  if (automatic == "VALID") return windows;
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t span = (kernel[k] - 1) * windows.dilations[k] + 1;
    std::int64_t pads = span - 1;  // with a stride of 1, whatever the extent
    if (windows.strides[k] != 1) {
      const std::int64_t in = call.extent(input, k + 2);
      const std::int64_t out = (in + windows.strides[k] - 1) / windows.strides[k];
      pads = std::max<std::int64_t>(0, (out - 1) * windows.strides[k] + span - in);
    }
    windows.pads[k] = automatic == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
    windows.pads[k + axes] = pads - windows.pads[k];
  }
  return windows;
}

}  // namespace relay::models::onnx
