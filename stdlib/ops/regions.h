#pragma once

namespace relay::stdlib {

// Operators that write over a region of a tensor: strided_set, matrix_set_diag.
void add_region_operators();

}  // namespace relay::stdlib
