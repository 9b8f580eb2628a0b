#pragma once

#include <cstdint>
#include <string>

#include "lang/expr.h"

namespace relay::opt {

// Sums of products over the steps of a loop. What differentiation makes of a recurrent network adds
// the product of one row with another to the adjoint of a matrix, in each of its steps:
//   def back(tape, h_adj, w_adj) { match tape {
//     Start => (h_adj, w_adj),
//     Step(d, h, before) => back(before, …, w_adj + transpose(d) @ h) } }
// which reads and writes the whole matrix for the sake of one row. Instead, the rows are kept, and
// a product of sixteen of them is added at a time: of the rows that are left, where the loop ends.
//   def back(tape, h_adj, w_adj) {
//     let go = fn (tape, h_adj, w_adj, lefts, rights, kept) { … };
//     go(tape, h_adj, w_adj, zeros, zeros, 0) }
//
// `expr` is the function `name`, or anything else, typed and in A-normal form, that nobody is going
// to differentiate; functions inside of it that call themselves are looked at, too. Extents must be
// known. Linear in `expr`; the result need not be in A-normal form.
enum class StepSums : std::uint8_t {
  Real,  // those of lang::Algebra::Real, whose order nobody has chosen
  All
};
lang::Expr collect_step_sums(const lang::Expr& expr, const std::string& name, StepSums which);

}  // namespace relay::opt
