#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "opt/known_ops.h"
#include "opt/pass_program.h"

// Private to the passes that join calls which share an input.
namespace relay::opt {

// What they know of their operator.
struct ParallelCalls {
  lang::NamedOp op;
  // Calls of equal text, whose first argument is one variable, can be joined; empty: this one
  // cannot.
  std::function<std::string(const lang::Call& call)> kind;
  // One call for all of them, of the second arguments joined.
  std::function<lang::Expr(const std::vector<const lang::Call*>& calls)> joined;
  // The parts of its result, in the same order.
  std::function<std::vector<lang::Expr>(const lang::Expr& result,
                                        const std::vector<const lang::Call*>& calls)>
      parts;
};

// What the passes have in common: their option `min_num_branches`, among those of `pass`; that they
// sum in another order; and that they join the calls that the options ask for, of one block, where
// there are at least so many of a kind. None of them may depend on another; bindings move, so that
// the second arguments of all stand before the joined call.
Pass joining(Pass pass, std::function<ParallelCalls(const lang::Attrs& options)> calls);

// The second arguments of calls, behind one another along an axis; their constant extents there;
// and the parts of a tensor that have these extents.
lang::Expr joined_seconds(const std::vector<const lang::Call*>& calls, std::size_t axis);
std::vector<std::int64_t> extents_of_seconds(const std::vector<const lang::Call*>& calls,
                                             std::size_t axis);
std::vector<lang::Expr> parts_along(const lang::Expr& tensor, std::size_t axis,
                                    const std::vector<std::int64_t>& extents);
// The constant extent of an axis; nothing where it is not known.
std::optional<std::int64_t> known_extent(const lang::Expr& tensor, std::size_t axis);

}  // namespace relay::opt
