#pragma once

#include <functional>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// A step of a loop that changes its state in places, as elimination does, often needs only a row, a
// column or an element of it to go backwards. To keep all of it would cost a copy in each step:
// what is kept cannot be changed in place.
//
// Of the tensors in `saved`, those of which `code` reads nothing but elements with an index that is
// the same for all of them (`a[i, k]` for all i, `a[k, k]`) leave it for slices (`for i { a[i, k]
// }`, `a[k, k]`), which the result binds and `code` reads instead. `is_at_hand`: variables that may
// be used where the slices are made, besides what is in `saved`. A slice outside of its tensor is
// 0: the step that has read there has failed before. Cost: linear in `code`.
std::vector<lang::Binding> save_slices(
    std::vector<lang::VariableRef>& saved, lang::Expr& code,
    const std::function<bool(const lang::VariableRef&)>& is_at_hand);

// `code` with each of `bindings` in front of what follows the last binding that it uses.
std::vector<lang::Binding> bound_early(const std::vector<lang::Binding>& code,
                                       const std::vector<lang::Binding>& bindings);

}  // namespace relay::ad
