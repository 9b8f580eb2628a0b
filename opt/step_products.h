#pragma once

#include <memory>
#include <unordered_map>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::opt {

// Products of one row in each step of a loop. A function that counts a number up or down, and calls
// itself in tail position,
//   def run(n: int32, h, xs, w) {
//     if n == 100 { h } else { run(n + 1, tanh(nn.dense(xs[n], w) + h), xs, w) }
//   }
// multiplies a row of `xs` by the same `w` in each of its steps. Where it is called with a constant
// to begin at, and all or most of the rows come up, they are multiplied at once,
//   let products = nn.dense(xs, w); run_1(0, h, products)
// which reads `w` once, and a copy of the function reads `products[n]`. So do its derivatives, as
// they are those of this code. The elements of a product of many rows may differ in their last bits
// from those of one row, as always where a library chooses the order of its sums.
//
// Functions are analysed once, at the first call of that form. A product is left where its rows
// together have more than 2^22 elements.
class StepProducts {
 public:
  StepProducts();
  ~StepProducts();
  // Takes and gives typed expressions; the result need not be in A-normal form.
  lang::Expr join(const lang::Expr& expr, lang::Program& program);
  // The definitions have changed.
  void forget();

 private:
  struct Loop;
  class Analysis;
  class Joiner;
  const Loop* loop_of(const lang::Call& call, lang::Program& program);

  std::unordered_map<const lang::ExprNode*, std::unique_ptr<Loop>> known_;
};

}  // namespace relay::opt
