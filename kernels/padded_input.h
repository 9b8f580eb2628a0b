#pragma once

#include <cstdint>
#include <vector>

#include "loops/normal_form.h"

namespace relay::kernels {

// A copy of the input of a window, for one image and one group, in which each place reads side by
// side with the next one: padding is written out, and along the last axis the elements that are a
// multiple of the stride apart are neighbours.
class PaddedInput {
 public:
  explicit PaddedInput(const loops::Window& form);

  // Elements of a channel, and of the copy with what vectors may read behind it.
  std::int64_t plane() const { return plane_; }
  // From row to row of a channel.
  std::int64_t pitch() const { return phase_ * form_.axes.back().stride; }
  std::size_t size() const;
  // Of channels [begin, end): `from` is the first element of the image and group.
  template <class T>
  void copy(const T* from, std::int64_t begin, std::int64_t end, T* to) const;

  // By product, channels outermost and then taps: how far it is from what the first tap reads.
  std::vector<std::int64_t> steps() const;
  // Where place `index`, row-major, reads with the first tap. Places of a row lie side by side.
  std::int64_t place(std::int64_t index) const;
  std::int64_t places() const;
  std::int64_t row() const { return form_.axes.back().out; }

 private:
  const loops::Window form_;
  std::vector<std::int64_t> pitch_;  // by axis
  std::int64_t phase_ = 0;  // from the elements of one remainder of the last axis to the next
  std::int64_t plane_ = 0;
};

}  // namespace relay::kernels
