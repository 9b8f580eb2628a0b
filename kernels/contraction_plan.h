#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/product.h"
#include "loops/normal_form.h"

// A contraction as products of matrices.
namespace relay::kernels {

// c = sum over `folded` of a * b, for each of `outer`.
struct ContractionPlan {
  std::int64_t m = 1, n = 1, k = 1;
  MatrixStrides a, b;
  std::int64_t c_row = 0;   // its columns lie side by side
  bool is_swapped = false;  // a and b are the contraction's b and a
  bool adds = false;        // to c
  std::vector<loops::ContractionAxis> outer;
  std::vector<loops::ContractionAxis> folded;

  double products() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// Points of the axes.
std::int64_t count_of(const std::vector<loops::ContractionAxis>& axes);
// Offsets of point `index` of the axes, row-major.
loops::ContractionAxis offsets_of(const std::vector<loops::ContractionAxis>& axes,
                                  std::int64_t index);

// The largest matrices that the strides allow; nothing where no axis of the result lies side by
// side.
std::optional<ContractionPlan> best_plan(const loops::Contraction& form);

// The result's rows, where all of them, of all matrices, are as far apart: how far each tensor
// moves from row to row, and the elements that a row touches.
std::optional<loops::RowWise> rows_of(const ContractionPlan& plan);

}  // namespace relay::kernels
