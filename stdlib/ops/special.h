#pragma once

namespace relay::stdlib {

// The complementary error function, log-gamma and its derivatives, and the smooth activations.
void add_special_operators();

}  // namespace relay::stdlib
