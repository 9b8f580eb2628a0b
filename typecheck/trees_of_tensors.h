#pragma once

#include <functional>
#include <vector>

#include "lang/expr.h"
#include "lang/type.h"

// The value of a `for` may be a tensor, or a tuple or record of such values. Its tensors are
// stacked one by one, and the core has only tensors and tuples of tensors for it.
namespace relay::typecheck {

// The part of a type for which that does not hold, such as a list; null if there is none. An
// unknown may yet become anything.
lang::Type no_tree_of_tensors(const lang::Type& type);

// The type with `of_tensor` of each tensor in its place. A record whose fields are type parameters,
// or tuples and such records of them, remains one: `Pair[float32, int32]` becomes
// `Pair[Tensor[(4), float32], Tensor[(4), int32]]`. Any other record, whose fields can hold nothing
// else than they do, becomes the tuple of its fields. Null where an unknown is in the way, or
// `of_tensor` gives null. Needs `no_tree_of_tensors(type)` to be null.
lang::Type map_tensors(const lang::Type& type,
                       const std::function<lang::Type(const lang::Type&)>& of_tensor);

// The types of the tensors, in the order of their places; nothing of unknowns.
std::vector<lang::Type> tensor_types_of(const lang::Type& type);

// The tensors of a typed value, in the same order. What is no atom and would be computed for each
// of them, or in another order than before, is bound in `bindings`.
std::vector<lang::Expr> tensors_of(const lang::Expr& value, std::vector<lang::Binding>& bindings,
                                   lang::Span span);

// `for binders { body }` of that type. The loop itself is over all tensors of the body side by
// side.
lang::Expr stack_parts(std::vector<lang::IndexBinder> binders, const lang::Expr& body,
                       const lang::Type& type, lang::Span span);

// `tree[indices]` of that type, for a tuple or a record. `in_bounds`: as far as extents are known.
lang::Expr index_each(const lang::Expr& tree, std::vector<lang::Expr> indices, bool in_bounds,
                      const lang::Type& type, lang::Span span);

}  // namespace relay::typecheck
