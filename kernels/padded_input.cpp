#include "kernels/padded_input.h"

#include <algorithm>

namespace relay::kernels {

using loops::Window;
using loops::WindowAxis;

namespace {

constexpr std::int64_t kBehind = 64;  // elements of a few vectors

// Elements along an axis that places read, padding included.
std::int64_t extent_of(const WindowAxis& axis) {
  return (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

}  // namespace

PaddedInput::PaddedInput(const Window& form) : form_(form), pitch_(form.axes.size()) {
  const WindowAxis& last = form.axes.back();
  phase_ = (extent_of(last) + last.stride - 1) / last.stride;
  std::int64_t pitch = this->pitch();
  pitch_.back() = 1;
  for (std::size_t i = form.axes.size() - 1; i-- > 0;) {
    pitch_[i] = pitch;
    pitch *= extent_of(form.axes[i]);
  }
  plane_ = pitch;
}

std::size_t PaddedInput::size() const {
  return static_cast<std::size_t>(plane_ * form_.in_channels + kBehind);
}

template <class T>
void PaddedInput::copy(const T* from, std::int64_t begin, std::int64_t end, T* to) const {
  const WindowAxis& last = form_.axes.back();
  std::fill(to + begin * plane_, to + end * plane_ + (end == form_.in_channels ? kBehind : 0),
            T(0));
  // Of each axis but the last, from the channels inwards: rows of the input that are read.
  const std::int64_t first = std::max<std::int64_t>(0, -last.front);
  const std::int64_t count = std::min(last.in, extent_of(last) - last.front);
  std::vector<std::int64_t> at(form_.axes.size() - 1, 0);
  for (std::int64_t channel = begin; channel < end; ++channel) {
    std::fill(at.begin(), at.end(), 0);
    for (bool more = true; more;) {
      const T* row = from + channel * form_.in.channel;
      T* into = to + channel * plane_;
      bool is_read = true;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const WindowAxis& axis = form_.axes[i];
        const std::int64_t padded = at[i] + axis.front;
        is_read = is_read && padded >= 0 && padded < extent_of(axis);
        row += at[i] * axis.in_stride;
        into += padded * pitch_[i];
      }
      if (is_read && last.stride == 1 && last.in_stride == 1) {
        if (first < count) std::copy(row + first, row + count, into + first + last.front);
      } else if (is_read) {
        for (std::int64_t phase = 0; phase < last.stride; ++phase) {
          // The first element that is read and has this remainder.
          const std::int64_t from_first = (phase - first - last.front) % last.stride;
          std::int64_t x = first + (from_first + last.stride) % last.stride;
          T* out = into + phase * phase_ + (x + last.front) / last.stride;
          for (; x < count; x += last.stride) *out++ = row[x * last.in_stride];
        }
      }
      more = false;
      for (std::size_t i = at.size(); i-- > 0 && !more;) {
        more = ++at[i] < form_.axes[i].in;
        if (!more) at[i] = 0;
      }
    }
  }
}

template void PaddedInput::copy(const float*, std::int64_t, std::int64_t, float*) const;
template void PaddedInput::copy(const double*, std::int64_t, std::int64_t, double*) const;

std::vector<std::int64_t> PaddedInput::steps() const {
  std::vector<std::int64_t> steps;
  for (std::int64_t channel = 0; channel < form_.in_channels; ++channel)
    steps.push_back(channel * plane_);
  for (std::size_t i = 0; i < form_.axes.size(); ++i) {
    const WindowAxis& axis = form_.axes[i];
    const bool is_last = i + 1 == form_.axes.size();
    std::vector<std::int64_t> inner;
    for (const std::int64_t step : steps) {
      for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
        const std::int64_t off = tap * axis.dilation;
        inner.push_back(
            step + (is_last ? off % axis.stride * phase_ + off / axis.stride : off * pitch_[i]));
      }
    }
    steps = std::move(inner);
  }
  return steps;
}

std::int64_t PaddedInput::place(std::int64_t index) const {
  std::int64_t offset = index % form_.axes.back().out;
  index /= form_.axes.back().out;
  for (std::size_t i = form_.axes.size() - 1; i-- > 0;) {
    const WindowAxis& axis = form_.axes[i];
    offset += index % axis.out * axis.stride * pitch_[i];
    index /= axis.out;
  }
  return offset;
}

std::int64_t PaddedInput::places() const {
  std::int64_t count = 1;
  for (const WindowAxis& axis : form_.axes) count *= axis.out;
  return count;
}

}  // namespace relay::kernels
