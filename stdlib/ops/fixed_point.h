#pragma once

namespace relay::stdlib {

// Products in fixed-point arithmetic, and bits read as another dtype.
void add_fixed_point_operators();

}  // namespace relay::stdlib
