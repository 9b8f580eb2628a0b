#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

// Private to the passes that join calls which share an input.
namespace relay::opt {

// What they know of their operator.
struct ParallelCalls {
  std::string op;
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

// Joins calls of one block, where there are at least `least` of a kind. None of them may depend on
// another; bindings move, so that the second arguments of all stand before the joined call. Code in
// A-normal form; the result need not be.
lang::Expr join_parallel_calls(const lang::Expr& expr, const ParallelCalls& calls,
                               std::size_t least, lang::Program* program);

// Tensors behind one another along an axis, and the parts of such a one that have these extents.
lang::Expr concatenated(std::vector<lang::Expr> tensors, std::size_t axis);
std::vector<lang::Expr> parts_along(const lang::Expr& tensor, std::size_t axis,
                                    const std::vector<std::int64_t>& extents);
// The constant extent of an axis; nothing where it is not known.
std::optional<std::int64_t> known_extent(const lang::Expr& tensor, std::size_t axis);

}  // namespace relay::opt
