#pragma once

#include <vector>

#include "loops/normal_form.h"
#include "loops/stages.h"

namespace relay::loops {

// A tensor's definition as a normal form of two operands that lie, or are to be stored, in memory.
struct Recognised {
  NormalForm form;
  TensorId left, right;
  std::int64_t left_offset, right_offset;  // in elements
};

// What `tensor` is, the better choice first; usually nothing. Needs a floating point sum of
// products of two reads, each of which may look through copies and through a mask of zeros, which
// may also stand around the product: a Map, or a Scatter of such products into zeros.
std::vector<Recognised> recognise(const Stages& stages, TensorId tensor);

// Is every element the constant 0?
bool is_zeros(const Stages& stages, TensorId tensor);

}  // namespace relay::loops
