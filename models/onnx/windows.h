#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/call.h"

// The windows of convolutions and pools.
namespace relay::models::onnx {

struct Windows {
  std::vector<std::int64_t> strides, dilations;
  std::vector<std::int64_t> pads;  // all fronts, then all backs
  // `, strides=[2, 2], padding=[1, 1]`; what is the default is left out.
  std::string attributes() const;
  // What is left of an axis of this extent, for windows of `kernel` elements.
  lang::Dim left(const lang::Dim& extent, std::size_t axis, std::int64_t kernel,
                 bool overhangs = false) const;
  // The axes of which the last window overhangs with `ceil_mode`. PyTorch and ONNX Runtime leave it
  // out where it would hold nothing of the data; of extents that are not known, it is left in.
  struct Overhangs {
    std::vector<std::int64_t> empty;  // axes of the data
    bool are_some_full = false;       // there are others too
    std::string cut() const;          // what `strided_slice` takes to leave the empty ones out
  };
  Overhangs overhangs(const Call& call, const std::vector<std::int64_t>& kernel) const;
  // Pads what the last windows overhang, so that nothing is to be cut off again: for those that do
  // not count what they hold. False, and nothing is done, where an extent is not known.
  bool pad_overhangs(const Call& call, const std::vector<std::int64_t>& kernel);
};

// How many axes of an input stand behind its batch and its channels: one to three.
std::size_t spatial_axes(const Call& call, std::size_t input);
// The extents of the windows of a weight, or what `kernel_shape` says.
std::vector<std::int64_t> kernel_of(const Call& call, std::size_t weight);
// `pads`, or what `auto_pad` stands for, of windows over `input`. `ignores_auto`: whoever asks says
// it himself.
Windows windows_of(const Call& call, std::size_t input, const std::vector<std::int64_t>& kernel,
                   bool ignores_auto = false);

}  // namespace relay::models::onnx
