#pragma once

namespace relay::stdlib {

// Broadcasting to a shape, and the sums that undo it.
void add_stretching_operators();

}  // namespace relay::stdlib
