#pragma once

#include <cstdint>
#include <optional>

#include "opt/fake_quantization.h"

// Private to the rules of FakeQuantizationToInteger.
namespace relay::opt {

using Found = std::optional<Affine>;

// The value of a constant; null for anything else.
const lang::Tensor* constant_value(const lang::Expr& atom, const Definitions& definitions);
// Is it a constant, and 0 for all channels?
bool is_zero(const lang::Expr& zero_point, const Definitions& definitions);
// Are larger integers larger numbers? A scale that is no constant does not tell.
bool keeps_order(const Affine& data, const Definitions& definitions);

// Rules of operators that move elements, or choose among them: the integers move alike.
Found moved(const AffineStep& step);
Found chosen(const AffineStep& step);             // by size
Found largest_of_window(const AffineStep& step);  // of a pool
Found transposed(const AffineStep& step);
Found padded(const AffineStep& step);
// Of bounds.
Found at_least_zero(const AffineStep& step);
Found clipped(const AffineStep& step);

}  // namespace relay::opt
