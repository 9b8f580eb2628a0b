#pragma once

#include <functional>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// What of the values `saved` may be computed again instead, for about as much as it costs to keep
// them: short arithmetic of other values and reads of tensors. They leave `saved`, and the bindings
// that compute them come back, in order. `primal` bound them; `is_at_hand`: variables that need not
// be saved. Cost: linear in `primal`.
std::vector<lang::Binding> recompute(
    std::vector<lang::VariableRef>& saved, const std::vector<lang::Binding>& primal,
    const std::function<bool(const lang::VariableRef&)>& is_at_hand);

}  // namespace relay::ad
