#pragma once

namespace relay::stdlib {

// Fills lang::OpRegistry with every operator, once; further calls do nothing. Cost: well under a
// millisecond (it is part of every start).
void register_operators();

}  // namespace relay::stdlib
